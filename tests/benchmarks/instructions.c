/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The work that callgrind counts: parses RULES rules, then matches DRIVES drives with these rules and plans their visits. The
 * caller selects the function that is counted (--toggle-collect). Without callgrind, the program does the same work. */

#include <stdio.h>

#include "config.h"
#include "plan.h"
#include "settings.h"

/* Prints the i-th rule. The rules match classes of drives, drives by a pattern, and single drives. */
static void print_rule(FILE *f, unsigned i) {
        switch (i % 5) {
        case 0:
                fprintf(f, "  { match = { transport = \"sata\"; rotational = true; model = \"MAKER %u *\"; };\n", i);
                break;
        case 1:
                fprintf(f, "  { match = \"/dev/disk/by-id/ata-MAKER_BIGDISK_SN%06u\";\n", i);
                break;
        case 2:
                fprintf(f, "  { match = { serial = [\"SN%06u\", \"SN9%05u*\"]; };\n", i, i);
                break;
        case 3:
                fprintf(f, "  { match = { wwn = \"0x5000c500%08x\"; };\n", i);
                break;
        default:
                fprintf(f, "  { match = { transport = \"sata\"; ID_PATH = \"pci-0000:%02x:00.0-*\"; };\n", i % 256);
                break;
        }
        fprintf(f, "    apm = %u; spindown_time = \"20min\"; // rule %u\n", i % 254 + 1, i);
        fprintf(f, "    write_cache = false; lookahead = true; read_ahead_kb = 512; },\n");
}

static char *rules_text(unsigned n, size_t *ret_size) {
        char *text = NULL;
        FILE *f;

        f = open_memstream(&text, ret_size);
        if (!f)
                return NULL;

        fputs("drives = (\n", f);
        for (unsigned i = 0; i < n; i++)
                print_rule(f, i);
        /* The last rule matches every drive, so that each drive has settings to plan. */
        fputs("  { match = { transport = \"sata\"; }; apm = 127; error_recovery = \"7s\"; }\n);\n", f);

        return fclose(f) == 0 ? text : NULL;
}

typedef struct Identity {
        unsigned number;
        char answer[128];
} Identity;

/* Returns what udev and sysfs report about a disk on AHCI. */
static const char *identity_fact(void *userdata, const char *key) {
        Identity *id = userdata;

        if (streq(key, "ID_SERIAL_SHORT"))
                (void) snprintf(id->answer, sizeof id->answer, "SN%06u", id->number);
        else if (streq(key, "ID_WWN"))
                (void) snprintf(id->answer, sizeof id->answer, "0x5000c500%08x", id->number);
        else if (streq(key, "ID_MODEL"))
                return "MAKER_BIGDISK";
        else if (streq(key, "ID_REVISION"))
                return "FW01";
        else if (streq(key, "ID_ATA") || streq(key, "queue/rotational"))
                return "1";
        else if (streq(key, "device/vendor"))
                return "ATA     ";
        else if (streq(key, "scsi_host/proc_name"))
                return "ahci";
        else if (streq(key, "size"))
                return "7814037168";
        else
                return NULL;

        return id->answer;
}

static int make_drive(unsigned i, Drive **ret) {
        _cleanup_(drive_freep) Drive *d = NULL;
        Identity id = { .number = i };
        const DriveLookup lookup = { identity_fact, &id };
        char name[16], node[32], path[160], text[128];
        int r;

        (void) snprintf(name, sizeof name, "sd%c%c%c", 'a' + i / 676 % 26, 'a' + i / 26 % 26, 'a' + i % 26);
        (void) snprintf(node, sizeof node, "/dev/%s", name);
        (void) snprintf(path, sizeof path,
                        "/sys/devices/pci0000:00/0000:%02x:00.0/ata%u/host%u/target%u:0:0/%u:0:0:0/block/%s", i % 256,
                        i + 1, i, i, i, name);
        r = drive_new(name, node, path, &lookup, &d);

        /* Adds the links of the disk and of one partition, as udev makes them. */
        for (unsigned part = 0; r >= 0 && part <= 1; part++) {
                const char *end = part ? "-part1" : "";
                LinkVia via = part ? LINK_PARTITION : LINK_OWN;

                (void) snprintf(text, sizeof text, "/dev/disk/by-id/ata-MAKER_BIGDISK_SN%06u%s", i, end);
                r = drive_add_link(d, text, via);
                (void) snprintf(text, sizeof text, "/dev/disk/by-id/wwn-0x5000c500%08x%s", i, end);
                if (r >= 0)
                        r = drive_add_link(d, text, via);
                (void) snprintf(text, sizeof text, "/dev/disk/by-path/pci-0000:%02x:00.0-ata-1.0%s", i % 256, end);
                if (r >= 0)
                        r = drive_add_link(d, text, via);
        }
        if (r >= 0) {
                (void) snprintf(text, sizeof text, "pci-0000:%02x:00.0-ata-1", i % 256);
                r = drive_add_property(d, "ID_PATH", text);
        }
        if (r < 0)
                return r;

        *ret = TAKE_PTR(d);
        return 0;
}

static __attribute__((noinline)) int measured_parse(Config *c, const char *text, size_t size) {
        return config_parse(c, &all_settings, "bench.conf", text, size);
}

/* Does the work of a visit without a drive, as if each setting had a wrong value and each write succeeded. */
static int plan_drive(const Config *c, const Drive *d, size_t *steps) {
        _cleanup_(wishes_done) Wishes w = {};
        Plan p = {};
        int r;

        r = config_resolve(c, d, false, &w);
        if (r >= 0)
                r = plan_new(&w, &all_settings, 1U << BACKEND_ATA | 1U << BACKEND_SCSI | 1U << BACKEND_BLOCK, &p);
        if (r < 0)
                return r;

        for (size_t i = 0; i < p.n_steps; i++) {
                Step *s = p.steps + i;

                *steps += 1;
                if (step_settle(s, NULL))
                        continue;
                s->before = (Reading){ .supported = true, .known = !(s->setting->flags & SETTING_UNREADABLE) };
                step_decide(s, NULL, false);
                if (s->verdict != _VERDICT_INVALID)
                        continue;
                s->written = true;
                s->after = s->before;
                s->after.value = s->wish->value;
                step_judge(s);
        }

        plan_done(&p);
        return 0;
}

static __attribute__((noinline)) int measured_plan(const Config *c, Drive *const *drives, unsigned n, size_t *steps) {
        int r = 0;

        for (unsigned i = 0; r >= 0 && i < n; i++)
                r = plan_drive(c, drives[i], steps);
        return r;
}

int main(int argc, char *argv[]) {
        _cleanup_(config_freep) Config *c = NULL;
        _cleanup_free_ char *text = NULL;
        _cleanup_free_ Drive **drives = NULL;
        unsigned n_rules, n_drives;
        size_t size, steps = 0;
        int r;

        if (argc != 3) {
                fprintf(stderr, "Usage: %s RULES DRIVES\n", argv[0]);
                return EXIT_FAILURE;
        }
        n_rules = strtoul(argv[1], NULL, 10);
        n_drives = strtoul(argv[2], NULL, 10);

        text = rules_text(n_rules, &size);
        drives = calloc(n_drives + 1, sizeof *drives);
        r = text && drives ? config_new(&c) : -ENOMEM;
        if (r >= 0)
                r = measured_parse(c, text, size);
        for (unsigned i = 0; r >= 0 && i < n_drives; i++)
                r = make_drive(i, drives + i);
        if (r >= 0)
                r = measured_plan(c, drives, n_drives, &steps);
        for (unsigned i = 0; drives && i < n_drives; i++)
                (void) drive_free(drives[i]);
        if (r < 0)
                return EXIT_FAILURE;

        /* Shows that the rules were really parsed, and the visits planned. */
        printf("%zu blocks, %u errors, %zu steps\n", c->n_blocks, (unsigned) c->complaints.n_errors, steps);
        return EXIT_SUCCESS;
}
