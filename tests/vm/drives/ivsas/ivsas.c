// SPDX-License-Identifier: GPL-2.0
/*
 * ivsas - a SAS host controller whose disks are modelled outside the machine
 *
 * ivsas has the same kind of device (ivshmem-doorbell) and mailboxes as ivata, but its
 * mailboxes carry whole SCSI commands.  Each disk is an end device at a separate phy, so
 * that the guest treats it as a SAS disk.  Each disk has several slots for simultaneous
 * commands, and each slot has its own mailbox and data window.  Fields about the disk
 * itself are valid only in the mailbox of its first slot.  The memory's layout is also
 * described in ../sas.py.
 *
 * Written for Linux 6.1.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/version.h>
#include <scsi/scsi.h>
#include <scsi/scsi_cmnd.h>
#include <scsi/scsi_device.h>
#include <scsi/scsi_eh.h>
#include <scsi/scsi_host.h>
#include <scsi/scsi_transport_sas.h>

#define IVSAS_NAME "ivsas"
#define IVSAS_MAGIC 0x53415349
#define IVSAS_VERSION 1
#define IVSAS_MOST_PORTS 14
#define IVSAS_MOST_SLOTS 32

/* Registers of ivshmem-doorbell, BAR 0 */
#define IVSHMEM_DOORBELL 12
#define IVSHMEM_PEER_DRIVES (1 << 16) /* rings the doorbell of peer 1 (the disks), vector 0 */

#define IVSAS_WINDOW_SECTORS 1024
#define IVSAS_ADDRESS 0x5000c50000000000ULL /* SAS address of the controller */

/* Bits of ivsas_mailbox.flags */
#define IVSAS_DATA_OUT BIT(0)
#define IVSAS_DATA_IN BIT(1)
#define IVSAS_USER BIT(2) /* sent by a program */

struct ivsas_header {
	u32 magic;
	u32 version;
	u32 ports;
	u32 mailbox_offset; /* offset of the first mailbox; the others follow, one page each */
	u32 window_offset; /* offset of the first data window */
	u32 window_size;
	u32 slots; /* number of slots per port */
};

#define IVSAS_MAILBOX_STRIDE 4096

struct ivsas_mailbox {
	/* written by the disks' side */
	u32 answer; /* number of the latest request answered */
	u32 present; /* not 0: a disk is plugged in */
	u32 link_events; /* counts plugging and unplugging */
	u32 resets_done;
	u32 status;
	u32 returned; /* bytes of data returned */
	u32 sense_length;
	u8 pad1[36];

	/* written by the guest */
	u32 request; /* number of the latest request issued */
	u32 resets;
	u32 pad2;
	u32 flags;
	u32 bytes; /* bytes of data, in either direction */
	u8 cdb[32];
	u32 pid;
	char comm[TASK_COMM_LEN]; /* name of the task that issued the request, if known */
	u8 pad3[104];

	/* written by the disks' side */
	u64 address; /* SAS address of the disk's port */
	u8 pad4[8];
	u8 sense[SCSI_SENSE_BUFFERSIZE];
};

struct ivsas_slot {
	struct ivsas_mailbox *box;
	void *window;
	struct scsi_cmnd *command; /* command in progress; NULL: the slot is free */
	u32 request;
};

struct ivsas_port {
	struct ivsas_mailbox *box; /* mailbox of the first slot */
	struct ivsas_slot slots[IVSAS_MOST_SLOTS];
	u32 link_events;
	struct sas_phy *phy;
	struct sas_port *attached; /* the port of the disk that the guest has registered, or NULL */
};

struct ivsas_host {
	struct Scsi_Host *scsi;
	void __iomem *regs;
	void *memory;
	unsigned int n_ports;
	unsigned int n_slots; /* number of slots per port */
	struct ivsas_port ports[IVSAS_MOST_PORTS];
	struct work_struct topology;
};

static struct scsi_transport_template *ivsas_transport;

static void ivsas_ring(struct ivsas_host *host)
{
	wmb(); /* write the mailbox before ringing the doorbell */
	writel(IVSHMEM_PEER_DRIVES, host->regs + IVSHMEM_DOORBELL);
}

static struct ivsas_port *ivsas_find(struct scsi_device *sdev)
{
	struct ivsas_host *host = shost_priv(sdev->host);
	struct sas_rphy *rphy = dev_to_rphy(sdev->sdev_target->dev.parent);

	return &host->ports[rphy->identify.phy_identifier];
}

/* Returns the slot that executes the command. If `command` is NULL, returns a free slot. Returns NULL if no slot matches. */
static struct ivsas_slot *ivsas_find_slot(struct ivsas_host *host, struct ivsas_port *port,
					  const struct scsi_cmnd *command)
{
	unsigned int i;

	for (i = 0; i < host->n_slots; i++)
		if (port->slots[i].command == command)
			return &port->slots[i];
	return NULL;
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
static int
#else
static enum scsi_qc_status
#endif
ivsas_queuecommand(struct Scsi_Host *shost, struct scsi_cmnd *cmd)
{
	struct ivsas_host *host = shost_priv(shost);
	struct ivsas_port *port = ivsas_find(cmd->device);
	unsigned int length = scsi_bufflen(cmd);
	struct ivsas_mailbox *box;
	struct ivsas_slot *slot;
	unsigned long flags;

	spin_lock_irqsave(shost->host_lock, flags);
	if (!READ_ONCE(port->box->present) || length > IVSAS_WINDOW_SECTORS * SECTOR_SIZE) {
		set_host_byte(cmd, port->box->present ? DID_ERROR : DID_NO_CONNECT);
		spin_unlock_irqrestore(shost->host_lock, flags);
		scsi_done(cmd);
		return 0;
	}
	slot = ivsas_find_slot(host, port, NULL);
	if (!slot) {
		spin_unlock_irqrestore(shost->host_lock, flags);
		return SCSI_MLQUEUE_DEVICE_BUSY;
	}

	box = slot->box;
	memset(box->cdb, 0, sizeof(box->cdb));
	memcpy(box->cdb, cmd->cmnd, min_t(size_t, cmd->cmd_len, sizeof(box->cdb)));
	box->flags = 0;
	box->bytes = length;
	if (length && cmd->sc_data_direction == DMA_TO_DEVICE) {
		box->flags |= IVSAS_DATA_OUT;
		scsi_sg_copy_to_buffer(cmd, slot->window, length);
	} else if (length) {
		box->flags |= IVSAS_DATA_IN;
	}
	if (blk_rq_is_passthrough(scsi_cmd_to_rq(cmd)) && !(current->flags & PF_KTHREAD))
		box->flags |= IVSAS_USER;
	box->pid = task_tgid_nr(current);
	get_task_comm(box->comm, current);

	slot->command = cmd;
	box->request = ++slot->request;
	ivsas_ring(host);
	spin_unlock_irqrestore(shost->host_lock, flags);
	return 0;
}

static void ivsas_complete(struct ivsas_slot *slot)
{
	struct ivsas_mailbox *box = slot->box;
	struct scsi_cmnd *cmd = slot->command;
	u32 returned = min(box->returned, scsi_bufflen(cmd));

	slot->command = NULL;
	if (cmd->sc_data_direction == DMA_FROM_DEVICE) {
		scsi_sg_copy_from_buffer(cmd, slot->window, returned);
		scsi_set_resid(cmd, scsi_bufflen(cmd) - returned);
	}
	memset(cmd->sense_buffer, 0, SCSI_SENSE_BUFFERSIZE);
	memcpy(cmd->sense_buffer, box->sense, min_t(u32, box->sense_length, SCSI_SENSE_BUFFERSIZE));
	cmd->result = box->status;
	scsi_done(cmd);
}

static void ivsas_look(struct ivsas_host *host, struct ivsas_port *port)
{
	bool moved = READ_ONCE(port->box->link_events) != port->link_events;
	unsigned int i;

	if (moved)
		schedule_work(&host->topology);
	for (i = 0; i < host->n_slots; i++) {
		struct ivsas_slot *slot = &port->slots[i];

		if (!slot->command)
			continue;
		if (moved) {
			set_host_byte(slot->command, DID_NO_CONNECT);
			scsi_done(slot->command);
			slot->command = NULL;
		} else if (READ_ONCE(slot->box->answer) == slot->request) {
			rmb(); /* read the answer's number before the answer */
			ivsas_complete(slot);
		}
	}
}

static irqreturn_t ivsas_interrupt(int irq, void *data)
{
	struct ivsas_host *host = data;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(host->scsi->host_lock, flags);
	for (i = 0; i < host->n_ports; i++)
		ivsas_look(host, &host->ports[i]);
	spin_unlock_irqrestore(host->scsi->host_lock, flags);
	return IRQ_HANDLED;
}

/* Forgets the command. The disk may continue to execute it; its answer is ignored. */
static int ivsas_abort(struct scsi_cmnd *cmd)
{
	struct ivsas_port *port = ivsas_find(cmd->device);
	struct ivsas_slot *slot;
	unsigned long flags;

	spin_lock_irqsave(cmd->device->host->host_lock, flags);
	slot = ivsas_find_slot(shost_priv(cmd->device->host), port, cmd);
	if (slot)
		slot->command = NULL;
	spin_unlock_irqrestore(cmd->device->host->host_lock, flags);
	return SUCCESS;
}

static int ivsas_reset(struct scsi_cmnd *cmd)
{
	struct ivsas_host *host = shost_priv(cmd->device->host);
	struct ivsas_port *port = ivsas_find(cmd->device);
	unsigned int i, tries;
	unsigned long flags;

	spin_lock_irqsave(cmd->device->host->host_lock, flags);
	for (i = 0; i < host->n_slots; i++)
		port->slots[i].command = NULL;
	port->box->resets++;
	ivsas_ring(host);
	spin_unlock_irqrestore(cmd->device->host->host_lock, flags);

	for (tries = 0; READ_ONCE(port->box->resets_done) != port->box->resets; tries++) {
		if (tries > 5000)
			return FAILED;
		usleep_range(500, 1000);
	}
	return SUCCESS;
}

static void ivsas_attach(struct ivsas_host *host, struct ivsas_port *port)
{
	struct sas_rphy *rphy;

	port->attached = sas_port_alloc_num(&host->scsi->shost_gendev);
	if (!port->attached)
		return;
	if (sas_port_add(port->attached)) {
		sas_port_free(port->attached);
		port->attached = NULL;
		return;
	}
	sas_port_add_phy(port->attached, port->phy);
	rphy = sas_end_device_alloc(port->attached);
	if (!rphy)
		return;
	rphy->identify.device_type = SAS_END_DEVICE;
	rphy->identify.target_port_protocols = SAS_PROTOCOL_SSP;
	rphy->identify.sas_address = port->box->address;
	rphy->identify.phy_identifier = port - host->ports;
	sas_rphy_add(rphy);
}

/* Registers and removes disks in the guest as they are plugged and unplugged. */
static void ivsas_follow(struct work_struct *work)
{
	struct ivsas_host *host = container_of(work, struct ivsas_host, topology);
	unsigned int i;

	for (i = 0; i < host->n_ports; i++) {
		struct ivsas_port *port = &host->ports[i];
		u32 events = READ_ONCE(port->box->link_events);
		bool moved = events != port->link_events;

		port->link_events = events;
		if (port->attached && (moved || !READ_ONCE(port->box->present))) {
			sas_port_delete(port->attached);
			port->attached = NULL;
		}
		if (!port->attached && READ_ONCE(port->box->present))
			ivsas_attach(host, port);
	}
}

static struct sas_function_template ivsas_functions = {};

static struct scsi_host_template ivsas_template = {
	.module = THIS_MODULE,
	.name = IVSAS_NAME,
	.proc_name = IVSAS_NAME,
	.queuecommand = ivsas_queuecommand,
	.eh_abort_handler = ivsas_abort,
	.eh_device_reset_handler = ivsas_reset,
	.change_queue_depth = scsi_change_queue_depth,
	.this_id = -1,
	.sg_tablesize = SG_ALL,
	.max_sectors = IVSAS_WINDOW_SECTORS,
};

static int ivsas_add_phys(struct ivsas_host *host)
{
	unsigned int i;
	int r;

	for (i = 0; i < host->n_ports; i++) {
		struct sas_phy *phy = sas_phy_alloc(&host->scsi->shost_gendev, i);

		if (!phy)
			return -ENOMEM;
		phy->identify.device_type = SAS_END_DEVICE;
		phy->identify.initiator_port_protocols = SAS_PROTOCOL_SSP;
		phy->identify.sas_address = IVSAS_ADDRESS;
		phy->identify.phy_identifier = i;
		phy->negotiated_linkrate = phy->maximum_linkrate = SAS_LINK_RATE_12_0_GBPS;
		r = sas_phy_add(phy);
		if (r) {
			sas_phy_free(phy);
			return r;
		}
		host->ports[i].phy = phy;
	}
	return 0;
}

static void ivsas_find_mailboxes(struct ivsas_host *host)
{
	struct ivsas_header *header = host->memory;
	unsigned int i;

	host->n_ports = header->ports;
	host->n_slots = header->slots;
	for (i = 0; i < host->n_ports * host->n_slots; i++) {
		struct ivsas_port *port = &host->ports[i / host->n_slots];
		struct ivsas_slot *slot = &port->slots[i % host->n_slots];

		slot->box = host->memory + header->mailbox_offset + i * IVSAS_MAILBOX_STRIDE;
		slot->window = host->memory + header->window_offset + i * header->window_size;
		/* The memory survives a warm reboot: continue with the current request number. */
		slot->request = slot->box->request;
	}
	for (i = 0; i < host->n_ports; i++) {
		struct ivsas_port *port = &host->ports[i];

		port->box = port->slots[0].box;
		port->link_events = READ_ONCE(port->box->link_events);
	}
}

static int ivsas_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct ivsas_header *header;
	struct ivsas_host *host;
	struct Scsi_Host *shost;
	void *memory;
	int r;

	r = pcim_enable_device(pdev);
	if (r < 0)
		return r;
	r = pcim_iomap_regions(pdev, BIT(0), IVSAS_NAME);
	if (r < 0)
		return r;
	memory = devm_memremap(&pdev->dev, pci_resource_start(pdev, 2), pci_resource_len(pdev, 2),
			       MEMREMAP_WB);
	if (IS_ERR(memory))
		return PTR_ERR(memory);
	header = memory;
	if (header->magic != IVSAS_MAGIC || header->version != IVSAS_VERSION)
		return -ENODEV; /* ivshmem device of another purpose */
	if (header->ports > IVSAS_MOST_PORTS || header->slots > IVSAS_MOST_SLOTS ||
	    !header->slots)
		return -EINVAL;

	shost = scsi_host_alloc(&ivsas_template, sizeof(*host));
	if (!shost)
		return -ENOMEM;
	host = shost_priv(shost);
	host->scsi = shost;
	host->regs = pcim_iomap_table(pdev)[0];
	host->memory = memory;
	INIT_WORK(&host->topology, ivsas_follow);
	ivsas_find_mailboxes(host);
	shost->transportt = ivsas_transport;
	shost->max_channel = 0;
	shost->max_id = 1024; /* IDs grow with each disk plugged in and are not reused */
	shost->max_lun = 1;
	shost->max_cmd_len = 32;
	shost->can_queue = host->n_ports * host->n_slots;
	shost->cmd_per_lun = host->n_slots;
	pci_set_drvdata(pdev, host);

	r = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSIX);
	if (r < 0)
		goto put;
	r = request_irq(pci_irq_vector(pdev, 0), ivsas_interrupt, 0, IVSAS_NAME, host);
	if (r < 0)
		goto vectors;
	pci_set_master(pdev);
	r = scsi_add_host(shost, &pdev->dev);
	if (r < 0)
		goto irq;
	r = ivsas_add_phys(host);
	if (r < 0)
		goto remove;
	schedule_work(&host->topology);
	return 0;

remove:
	sas_remove_host(shost);
	scsi_remove_host(shost);
irq:
	free_irq(pci_irq_vector(pdev, 0), host);
vectors:
	pci_free_irq_vectors(pdev);
put:
	scsi_host_put(shost);
	return r;
}

static void ivsas_remove(struct pci_dev *pdev)
{
	struct ivsas_host *host = pci_get_drvdata(pdev);
	struct Scsi_Host *shost = host->scsi;

	cancel_work_sync(&host->topology);
	sas_remove_host(shost);
	scsi_remove_host(shost);
	free_irq(pci_irq_vector(pdev, 0), host);
	pci_free_irq_vectors(pdev);
	scsi_host_put(shost);
}

static const struct pci_device_id ivsas_ids[] = {
	{ PCI_DEVICE(0x1af4, 0x1110) },
	{ },
};
MODULE_DEVICE_TABLE(pci, ivsas_ids);

static struct pci_driver ivsas_driver = {
	.name = IVSAS_NAME,
	.id_table = ivsas_ids,
	.probe = ivsas_probe,
	.remove = ivsas_remove,
};

static int __init ivsas_init(void)
{
	int r;

	BUILD_BUG_ON(offsetof(struct ivsas_mailbox, request) != 64);
	BUILD_BUG_ON(offsetof(struct ivsas_mailbox, cdb) != 84);
	BUILD_BUG_ON(offsetof(struct ivsas_mailbox, address) != 240);
	BUILD_BUG_ON(offsetof(struct ivsas_mailbox, sense) != 256);

	ivsas_transport = sas_attach_transport(&ivsas_functions);
	if (!ivsas_transport)
		return -ENOMEM;
	r = pci_register_driver(&ivsas_driver);
	if (r)
		sas_release_transport(ivsas_transport);
	return r;
}

static void __exit ivsas_exit(void)
{
	pci_unregister_driver(&ivsas_driver);
	sas_release_transport(ivsas_transport);
}

module_init(ivsas_init);
module_exit(ivsas_exit);

MODULE_DESCRIPTION("SAS host controller over ivshmem, for disks modelled outside the machine");
MODULE_LICENSE("GPL");
