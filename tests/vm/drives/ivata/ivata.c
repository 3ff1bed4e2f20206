// SPDX-License-Identifier: GPL-2.0
/*
 * ivata - a SATA host controller whose drives are modelled outside the machine
 *
 * The PCI device is QEMU's ivshmem-doorbell: memory shared with a process on the
 * host, and a doorbell in each direction.  Each port is a mailbox in that memory.
 * The mailbox carries a command as a register FIS with its data, and its answer as
 * a register FIS; libata does the rest (probing, error handling, hotplug, suspend), so
 * the guest has a real SATA disk.  The module deliberately keeps no state of a drive:
 * state that the drive model loses is lost.
 *
 * The memory's layout is also described in ../hba.py.  Both sides run on the same
 * host, so fields are in the host's byte order.
 *
 * Written for Linux 6.1.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/libata.h>
#include <linux/module.h>
#include <linux/version.h>
#include <linux/pci.h>
#include <linux/scatterlist.h>
#include <scsi/scsi_cmnd.h>
#include <scsi/scsi_host.h>

#define IVATA_NAME "sata_ivata" /* lsblk and udev derive TRAN=sata from "sata..." */
#define IVATA_MAGIC 0x41544149
#define IVATA_VERSION 1

/* Registers of ivshmem-doorbell, BAR 0 */
#define IVSHMEM_DOORBELL 12
#define IVSHMEM_PEER_DRIVES (1 << 16) /* rings the doorbell of peer 1 (the drives), vector 0 */

#define IVATA_WINDOW_SECTORS 1024

/* Bits of ivata_mailbox.flags */
#define IVATA_DATA_OUT BIT(0)
#define IVATA_DATA_IN BIT(1)
#define IVATA_EXT BIT(2) /* a 48-bit command */

struct ivata_header {
	u32 magic;
	u32 version;
	u32 ports;
	u32 mailbox_offset; /* offset of the first mailbox; the others follow, one page each */
	u32 window_offset; /* offset of the first data window */
	u32 window_size;
};

#define IVATA_MAILBOX_STRIDE 4096

struct ivata_mailbox {
	/* written by the drives' side */
	u32 answer; /* number of the latest request answered */
	u32 sstatus;
	u32 link_events; /* counts plugging and unplugging */
	u32 resets_done;
	u8 result[20]; /* register FIS, device to host */
	u8 pad[28];

	/* written by the guest */
	u32 request; /* number of the latest request issued */
	u32 resets; /* counts COMRESETs */
	u32 lpm_policy;
	u32 flags;
	u32 bytes; /* bytes of data, in either direction */
	u8 command[20]; /* register FIS, host to device */
	u32 scsi_op; /* opcode of the translated SCSI command; 0: a command of libata */
	u32 pid;
	char comm[TASK_COMM_LEN]; /* name of the task that issued the request, if known */
};

struct ivata_port {
	struct ivata_mailbox *box;
	void *window;
	void __iomem *regs;
	u32 request;
	u32 link_events;
	u32 scontrol;
	bool busy;
};

struct ivata_host {
	void __iomem *regs;
	void *memory;
};

static void ivata_ring(struct ivata_port *port)
{
	wmb(); /* write the mailbox before ringing the doorbell */
	writel(IVSHMEM_PEER_DRIVES, port->regs + IVSHMEM_DOORBELL);
}

static unsigned int ivata_qc_issue(struct ata_queued_cmd *qc)
{
	struct ivata_port *port = qc->ap->private_data;
	struct ivata_mailbox *box = port->box;
	bool data = ata_is_data(qc->tf.protocol);

	if (data && qc->nbytes > IVATA_WINDOW_SECTORS * ATA_SECT_SIZE)
		return AC_ERR_INVALID;

	ata_tf_to_fis(&qc->tf, 0, 1, box->command);
	box->flags = qc->tf.flags & ATA_TFLAG_LBA48 ? IVATA_EXT : 0;
	box->bytes = data ? qc->nbytes : 0;
	if (data && qc->dma_dir == DMA_TO_DEVICE) {
		box->flags |= IVATA_DATA_OUT;
		sg_copy_to_buffer(qc->sg, qc->n_elem, port->window, qc->nbytes);
	} else if (data) {
		box->flags |= IVATA_DATA_IN;
	}

	box->scsi_op = qc->scsicmd ? qc->scsicmd->cmnd[0] : 0;
	box->pid = task_tgid_nr(current);
	get_task_comm(box->comm, current);

	port->busy = true;
	box->request = ++port->request;
	ivata_ring(port);
	return 0;
}

static void ivata_result(struct ata_queued_cmd *qc)
{
	struct ivata_port *port = qc->ap->private_data;

	ata_tf_from_fis(port->box->result, &qc->result_tf);
}

/* Linux 6.12 expects no result from qc_fill_rtf(). Linux 6.1 expects the result true, and needs an empty qc_prep(). */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define ivata_qc_fill_rtf ivata_result
#else
static bool ivata_qc_fill_rtf(struct ata_queued_cmd *qc)
{
	ivata_result(qc);
	return true;
}
#endif

static void ivata_port_interrupt(struct ata_port *ap)
{
	struct ivata_port *port = ap->private_data;
	struct ivata_mailbox *box = port->box;
	u32 link_events = READ_ONCE(box->link_events);
	struct ata_queued_cmd *qc;
	u8 status;

	if (link_events != port->link_events) {
		port->link_events = link_events;
		ata_ehi_clear_desc(&ap->link.eh_info);
		ata_ehi_push_desc(&ap->link.eh_info, "link event");
		ata_ehi_hotplugged(&ap->link.eh_info);
		ata_port_freeze(ap);
		return;
	}

	if (!port->busy || READ_ONCE(box->answer) != port->request)
		return;
	port->busy = false;
	rmb(); /* read the answer's number before the answer */

	qc = ata_qc_from_tag(ap, ap->link.active_tag);
	if (!qc)
		return;
	status = box->result[2];
	if (status & (ATA_ERR | ATA_DF))
		qc->err_mask |= ac_err_mask(status);
	else if (ata_is_data(qc->tf.protocol) && qc->dma_dir == DMA_FROM_DEVICE)
		sg_copy_from_buffer(qc->sg, qc->n_elem, port->window, qc->nbytes);
	ata_qc_complete(qc);
}

static irqreturn_t ivata_interrupt(int irq, void *data)
{
	struct ata_host *host = data;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&host->lock, flags);
	for (i = 0; i < host->n_ports; i++)
		ivata_port_interrupt(host->ports[i]);
	spin_unlock_irqrestore(&host->lock, flags);
	return IRQ_HANDLED;
}

static int ivata_scr_read(struct ata_link *link, unsigned int reg, u32 *value)
{
	struct ivata_port *port = link->ap->private_data;

	switch (reg) {
	case SCR_STATUS:
		*value = READ_ONCE(port->box->sstatus);
		return 0;
	case SCR_CONTROL:
		*value = port->scontrol;
		return 0;
	case SCR_ERROR:
		*value = 0;
		return 0;
	}
	return -EINVAL;
}

static int ivata_scr_write(struct ata_link *link, unsigned int reg, u32 value)
{
	struct ivata_port *port = link->ap->private_data;

	if (reg == SCR_CONTROL)
		port->scontrol = value;
	return reg <= SCR_CONTROL ? 0 : -EINVAL;
}

/* Sends a COMRESET, which is the only way to reach a drive that does not answer or is in Sleep mode. */
static int ivata_hardreset(struct ata_link *link, unsigned int *class,
			   unsigned long deadline)
{
	struct ivata_port *port = link->ap->private_data;
	struct ivata_mailbox *box = port->box;
	unsigned long flags;

	spin_lock_irqsave(link->ap->lock, flags);
	port->busy = false;
	port->link_events = READ_ONCE(box->link_events);
	box->resets++;
	ivata_ring(port);
	spin_unlock_irqrestore(link->ap->lock, flags);

	while (READ_ONCE(box->resets_done) != box->resets) {
		if (time_after(jiffies, deadline))
			return -EIO;
		usleep_range(200, 1000);
	}
	*class = ata_link_online(link) ? ATA_DEV_ATA : ATA_DEV_NONE;
	return 0;
}

static int ivata_set_lpm(struct ata_link *link, enum ata_lpm_policy policy,
			 unsigned int hints)
{
	struct ivata_port *port = link->ap->private_data;

	port->box->lpm_policy = policy;
	return 0;
}

static int ivata_port_start(struct ata_port *ap)
{
	struct ivata_host *hba = ap->host->private_data;
	struct ivata_header *header = hba->memory;
	struct ivata_port *port;

	port = devm_kzalloc(ap->host->dev, sizeof(*port), GFP_KERNEL);
	if (!port)
		return -ENOMEM;

	port->regs = hba->regs;
	port->box = hba->memory + header->mailbox_offset +
		    ap->port_no * IVATA_MAILBOX_STRIDE;
	port->window = hba->memory + header->window_offset +
		       ap->port_no * header->window_size;

	/* The memory survives a warm reboot: continue with the current request number. */
	port->request = port->box->request;
	port->link_events = READ_ONCE(port->box->link_events);
	ap->private_data = port;
	return 0;
}

static struct ata_port_operations ivata_port_ops = {
	.inherits = &sata_port_ops,
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
	.qc_prep = ata_noop_qc_prep,
#endif
	.qc_issue = ivata_qc_issue,
	.qc_fill_rtf = ivata_qc_fill_rtf,
	.scr_read = ivata_scr_read,
	.scr_write = ivata_scr_write,
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
	.hardreset = ivata_hardreset,
#else
	.reset.hardreset = ivata_hardreset,
#endif
	.set_lpm = ivata_set_lpm,
	.port_start = ivata_port_start,
};

static const struct ata_port_info ivata_port_info = {
	.flags = ATA_FLAG_SATA | ATA_FLAG_NO_ATAPI,
	.pio_mask = ATA_PIO4,
	.mwdma_mask = ATA_MWDMA2,
	.udma_mask = ATA_UDMA6,
	.port_ops = &ivata_port_ops,
};

static struct attribute *ivata_host_attrs[] = {
	&dev_attr_link_power_management_policy.attr,
	NULL,
};
ATTRIBUTE_GROUPS(ivata_host);

static struct scsi_host_template ivata_sht = {
	ATA_BASE_SHT(IVATA_NAME),
	.sg_tablesize = LIBATA_MAX_PRD,
	.dma_boundary = ATA_DMA_BOUNDARY,
	.max_sectors = IVATA_WINDOW_SECTORS,
	.shost_groups = ivata_host_groups,
};

static int ivata_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	const struct ata_port_info *infos[] = { &ivata_port_info, NULL };
	struct ivata_header *header;
	struct ivata_host *hba;
	struct ata_host *host;
	int r;

	hba = devm_kzalloc(&pdev->dev, sizeof(*hba), GFP_KERNEL);
	if (!hba)
		return -ENOMEM;

	r = pcim_enable_device(pdev);
	if (r < 0)
		return r;
	r = pcim_iomap_regions(pdev, BIT(0), IVATA_NAME);
	if (r < 0)
		return r;
	hba->regs = pcim_iomap_table(pdev)[0];

	/* The BAR behaves like guest memory, so it is mapped as memory. */
	hba->memory = devm_memremap(&pdev->dev, pci_resource_start(pdev, 2),
				    pci_resource_len(pdev, 2), MEMREMAP_WB);
	if (IS_ERR(hba->memory))
		return PTR_ERR(hba->memory);

	header = hba->memory;
	if (header->magic != IVATA_MAGIC || header->version != IVATA_VERSION)
		return -ENODEV; /* ivshmem device of another purpose */
	if (header->window_size < IVATA_WINDOW_SECTORS * ATA_SECT_SIZE)
		return -EINVAL;

	r = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (r < 0)
		return r;
	r = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSIX);
	if (r < 0)
		return r;
	pci_set_master(pdev);

	host = ata_host_alloc_pinfo(&pdev->dev, infos, header->ports);
	if (!host)
		return -ENOMEM;
	host->private_data = hba;
	return ata_host_activate(host, pci_irq_vector(pdev, 0), ivata_interrupt, 0,
				 &ivata_sht);
}

static int __maybe_unused ivata_suspend(struct device *dev)
{
	ata_host_suspend(dev_get_drvdata(dev), PMSG_SUSPEND);
	return 0;
}

static int __maybe_unused ivata_resume(struct device *dev)
{
	ata_host_resume(dev_get_drvdata(dev));
	return 0;
}

static SIMPLE_DEV_PM_OPS(ivata_pm_ops, ivata_suspend, ivata_resume);

static const struct pci_device_id ivata_ids[] = {
	{ PCI_DEVICE(0x1af4, 0x1110) },
	{ },
};
MODULE_DEVICE_TABLE(pci, ivata_ids);

static struct pci_driver ivata_driver = {
	.name = IVATA_NAME,
	.id_table = ivata_ids,
	.probe = ivata_probe,
	.remove = ata_pci_remove_one,
	.driver.pm = &ivata_pm_ops,
};
module_pci_driver(ivata_driver);

MODULE_DESCRIPTION("SATA host controller over ivshmem, for drives modelled outside the machine");
MODULE_LICENSE("GPL");
