/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <endian.h>
#include <systemd/sd-id128.h>

#include "ata-identify.h"
#include "ata.h"
#include "must.h"
#include "nvme.h"
#include "redact.h"

/* A shorter secret is replaced only in its own field or text: elsewhere its bytes may occur by chance. */
#define SHORTEST_ANYWHERE 4U

#define HEXADECIMAL "0123456789abcdefABCDEF"

/* Hashes a text to 32 hexadecimal digits. sd_id128_get_machine_app_specific() is HMAC-SHA256 with the machine ID as key. */
static int hash_text(const char *text, size_t n, char ret[static SD_ID128_STRING_MAX]) {
        sd_id128_t state = SD_ID128_MAKE(5e, 41, 9c, 27, d0, 3b, 4f, 68, 8a, 15, e7, 72, b6, 0d, 93, fc);
        int r;

        for (size_t at = 0; at < n; at += sizeof state.bytes) {
                for (size_t i = 0; i < MIN(n - at, sizeof state.bytes); i++)
                        state.bytes[i] ^= (uint8_t) text[at + i];
                r = sd_id128_get_machine_app_specific(state, &state);
                if (r < 0)
                        return r;
        }
        (void) sd_id128_to_string(state, ret);
        return 0;
}

static void add_secret(Redaction *r, const Secret *s) {
        size_t at = 0;

        for (size_t i = 0; i < r->n_secrets; i++)
                if (r->secrets[i].n == s->n && memcmp(r->secrets[i].bytes, s->bytes, s->n) == 0)
                        return;
        must_grow(r, secrets);
        while (at < r->n_secrets && r->secrets[at].n >= s->n)
                at++;
        memmove(r->secrets + at + 1, r->secrets + at, (r->n_secrets - at) * sizeof *s);
        r->secrets[at] = *s;
        r->n_secrets++;
}

int redact_add_serial(Redaction *r, const char *serial) {
        char text[SECRET_MAX] = "", plain[SECRET_MAX], hash[SD_ID128_STRING_MAX], *start;
        Secret s = {};
        int k;

        (void) strncpy(text, serial ?: "", sizeof text - 1);
        start = text_strip(text + strspn(text, " "));
        s.n = strlen(start);
        if (s.n == 0)
                return 0;

        /* udev replaces blanks and other characters of a serial number by '_'. */
        for (size_t i = 0; i < s.n; i++)
                plain[i] = (char) (isalnum((unsigned char) start[i]) ? start[i] : '_');
        k = hash_text(plain, s.n, hash);
        if (k < 0)
                return k;

        memcpy(s.bytes, start, s.n);
        for (size_t i = 0; i < s.n; i++)
                s.hash[i] = (uint8_t) toupper((unsigned char) hash[i % 32]);
        add_secret(r, &s);
        memcpy(s.bytes, plain, s.n);
        add_secret(r, &s);
        return 0;
}

/* Adds the WWN as a number, and its digits as text. The hash keeps the first digit, which is the format of the WWN (NAA), and the last
 * digit, which is different for each port of a SAS drive. */
static int add_number(Redaction *r, const char *digits, size_t n) {
        char hash[SD_ID128_STRING_MAX], one[3] = "";
        Secret text = { .n = n }, number = { .n = n / 2, .number = true };
        int k;

        for (size_t i = 0; i < n; i++)
                text.bytes[i] = (uint8_t) tolower((unsigned char) digits[i]);
        k = hash_text((const char *) text.bytes, n - 1, hash);
        if (k < 0)
                return k;

        memcpy(text.hash, hash, n);
        text.hash[0] = text.bytes[0];
        text.hash[n - 1] = text.bytes[n - 1];
        for (size_t i = 0; i < number.n; i++) {
                memcpy(one, text.bytes + 2 * i, 2);
                number.bytes[i] = (uint8_t) strtoul(one, NULL, 16);
                memcpy(one, text.hash + 2 * i, 2);
                number.hash[i] = (uint8_t) strtoul(one, NULL, 16);
        }
        add_secret(r, &text);
        for (size_t i = 0; i < n; i++)
                text.bytes[i] = (uint8_t) toupper((unsigned char) text.bytes[i]);
        add_secret(r, &text);
        add_secret(r, &number);
        return 0;
}

int redact_add_wwn(Redaction *r, const char *wwn) {
        const char *digits = wwn ?: "", *dot = strrchr(digits, '.');
        size_t n;

        digits = dot ? dot + 1 : digits + (starts_with(digits, "0x") ? 2 : 0);
        n = strlen(digits);
        return (n == 16 || n == 32) && strspn(digits, HEXADECIMAL) == n ? add_number(r, digits, n)
                                                                        : redact_add_serial(r, wwn);
}

/* Replaces each secret of at least `shortest` bytes. */
static void sweep(const Redaction *r, uint8_t *data, size_t n, size_t shortest) {
        for (const Secret *s = r->secrets; s < r->secrets + r->n_secrets; s++) {
                uint8_t variable = s->number ? 0x0F : 0;

                for (size_t at = 0; s->n >= shortest && at + s->n <= n; at++) {
                        uint8_t *last = data + at + s->n - 1, digit = *last & variable;

                        if (memcmp(data + at, s->bytes, s->n - 1) != 0 ||
                            (*last & ~variable) != (s->bytes[s->n - 1] & ~variable))
                                continue;
                        memcpy(data + at, s->hash, s->n);
                        *last = (uint8_t) ((*last & ~variable) | digit);
                        at += s->n - 1;
                }
        }
}

void redact_text(const Redaction *r, char *text) {
        size_t n = strlen(text);

        sweep(r, (uint8_t *) text, n, MIN(n, SHORTEST_ANYWHERE));
}

static void swap_bytes(uint8_t *data, size_t n) {
        for (size_t i = 0; i + 1 < n; i += 2) {
                uint8_t first = data[i];

                data[i] = data[i + 1];
                data[i + 1] = first;
        }
}

/* ATA sends the two bytes of each word in reverse order. */
static void sweep_swapped(const Redaction *r, uint8_t *data, size_t n, size_t shortest) {
        swap_bytes(data, n);
        sweep(r, data, n, shortest);
        swap_bytes(data, n);
}

/* ---- fields of the commands ---- */

typedef enum DataKind {
        DATA_OTHER,  /* the layout is not known */
        DATA_ANSWER, /* logs, mode pages, features, and VPD pages without identifiers */
        DATA_ATA_IDENTIFY,
        DATA_NVME_CONTROLLER,
        DATA_NVME_NAMESPACE,
        DATA_INQUIRY,
} DataKind;

/* Fields that become zeros. */
static const struct {
        DataKind kind;
        uint16_t from, to; /* byte offsets; the byte at `to` is not part of the field */
} zeros[] = {
        { DATA_OTHER, 0, UINT16_MAX },
        { DATA_ATA_IDENTIFY, 224, 232 },      /* words 112 to 115: more bits of the WWN */
        { DATA_ATA_IDENTIFY, 258, 320 },      /* words 129 to 159: vendor specific */
        { DATA_ATA_IDENTIFY, 352, 412 },      /* words 176 to 205: media serial number */
        { DATA_NVME_CONTROLLER, 73, 76 },     /* IEEE OUI */
        { DATA_NVME_CONTROLLER, 112, 128 },   /* FRU GUID */
        { DATA_NVME_CONTROLLER, 768, 1024 },  /* NVM subsystem name, which often contains the serial number */
        { DATA_NVME_CONTROLLER, 3072, 4096 }, /* vendor specific */
        { DATA_NVME_NAMESPACE, 104, 128 },    /* NGUID and EUI64 */
        { DATA_NVME_NAMESPACE, 384, 4096 },   /* vendor specific */
        { DATA_INQUIRY, 36, 58 },             /* vendor specific, often the serial number */
        { DATA_INQUIRY, 96, UINT16_MAX },     /* vendor specific */
};

static DataKind ata_kind(uint8_t command) {
        switch (command) {
        case ATA_CMD_IDENTIFY_DEVICE:
                return DATA_ATA_IDENTIFY;
        case ATA_CMD_SMART:
        case ATA_CMD_READ_LOG_EXT:
        case ATA_CMD_DEVICE_CONFIGURATION:
                return DATA_ANSWER;
        default:
                return DATA_OTHER;
        }
}

static DataKind inquiry_kind(const uint8_t *cdb) {
        if (!(cdb[1] & 1)) /* standard INQUIRY data */
                return DATA_INQUIRY;
        return cdb[2] == 0x00 || (cdb[2] >= 0xB0 && cdb[2] <= 0xBF) ? DATA_ANSWER : DATA_OTHER;
}

static DataKind scsi_kind(const uint8_t *cdb) {
        switch (cdb[0]) {
        case 0xA1: /* ATA PASS-THROUGH(12), or BLANK of optical drives, which has no data */
                return ata_kind(cdb[9]);
        case 0x85: /* ATA PASS-THROUGH(16) */
                return ata_kind(cdb[14]);
        case 0x12:
                return inquiry_kind(cdb);
        case 0x03: /* REQUEST SENSE */
        case 0x1A: /* MODE SENSE(6) */
        case 0x25: /* READ CAPACITY(10) */
        case 0x46: /* GET CONFIGURATION */
        case 0x4D: /* LOG SENSE */
        case 0x5A: /* MODE SENSE(10) */
        case 0x9E: /* READ CAPACITY(16) */
        case 0xA3: /* REPORT SUPPORTED OPERATION CODES */
        case 0xAC: /* GET PERFORMANCE */
                return DATA_ANSWER;
        default:
                return DATA_OTHER;
        }
}

static DataKind nvme_kind(const struct nvme_passthru_cmd *cmd) {
        switch (cmd->opcode) {
        case NVME_ADMIN_GET_LOG_PAGE:
        case NVME_ADMIN_GET_FEATURES:
                return DATA_ANSWER;
        case NVME_ADMIN_IDENTIFY:
                return (cmd->cdw10 & 0xFF) == 1   ? DATA_NVME_CONTROLLER
                       : (cmd->cdw10 & 0xFF) == 0 ? DATA_NVME_NAMESPACE
                                                  : DATA_OTHER;
        default:
                return DATA_OTHER;
        }
}

static DataKind data_kind(const Exchange *x) {
        DataKind kind = x->is_nvme ? nvme_kind(&x->nvme) : scsi_kind(x->sg.cdb);
        uint32_t whole = kind == DATA_ATA_IDENTIFY ? 512 : kind == DATA_NVME_CONTROLLER ? 4096 : 0;

        return x->data_len < whole ? DATA_OTHER : kind;
}

static void identify_words(const Exchange *x, uint16_t ret[static 256]) {
        for (size_t i = 0; i < 256; i++)
                ret[i] = (uint16_t) (x->data[2 * i] | x->data[2 * i + 1] << 8);
}

int redact_learn(Redaction *r, const Exchange *x) {
        DataKind kind = data_kind(x);
        DriveIdentity identity;
        char serial[21] = "";
        uint16_t id[256];
        int k;

        if (kind == DATA_NVME_CONTROLLER) {
                memcpy(serial, x->data + 4, 20); /* SN */
                return redact_add_serial(r, serial);
        }
        if (kind != DATA_ATA_IDENTIFY)
                return 0;
        identify_words(x, id);
        identify_drive(id, &identity);
        k = redact_add_serial(r, identity.serial);
        return k < 0 ? k : redact_add_wwn(r, identity.wwn);
}

/* A serial number ends at its first NUL, so sweep() does not find the bytes after the NUL. */
static void zero_after_nul(uint8_t *data, size_t n) {
        uint8_t *nul = memchr(data, 0, n);

        if (nul)
                memset(nul, 0, (size_t) (data + n - nul));
}

/* Replaces identifiers that sweep() does not find: those that are short, or not valid. */
static void redact_identify(const Redaction *r, Exchange *x) {
        DriveIdentity identity;
        uint16_t id[256];

        identify_words(x, id);
        identify_drive(id, &identity);
        if (!identity.serial[0])
                memset(x->data + 20, 0, 20); /* words 10 to 19 */
        else if (strlen(identity.serial) < SHORTEST_ANYWHERE)
                sweep_swapped(r, x->data + 20, 20, 1);
        swap_bytes(x->data + 20, 20);
        zero_after_nul(x->data + 20, 20);
        swap_bytes(x->data + 20, 20);
        if (!identity.wwn[0])
                memset(x->data + 216, 0, 8); /* words 108 to 111 */
}

static void redact_controller(const Redaction *r, Exchange *x) {
        char serial[21] = "";

        memcpy(serial, x->data + 4, 20); /* SN */
        if (strlen(text_strip(serial)) < SHORTEST_ANYWHERE)
                sweep(r, x->data + 4, 20, 1);
        zero_after_nul(x->data + 4, 20);
}

static bool identify_is_sealed(const Exchange *x) {
        uint16_t id[256];

        identify_words(x, id);
        return identify_checksum_ok(id) && (id[255] & 0xFF) == IDENTIFY_CHECKSUM_MARK;
}

static void identify_seal(Exchange *x) {
        uint8_t sum = 0;

        for (size_t i = 0; i < 511; i++)
                sum += x->data[i];
        x->data[511] = (uint8_t) -sum;
}

void redact_exchange(const Redaction *r, Exchange *x) {
        DataKind kind = data_kind(x);
        /* A wrong checksum stays wrong. */
        bool sealed = kind == DATA_ATA_IDENTIFY && identify_is_sealed(x);

        for (size_t i = 0; i < ELEMENTSOF(zeros); i++)
                if (zeros[i].kind == kind && zeros[i].from < x->data_len)
                        memset(x->data + zeros[i].from, 0, MIN(zeros[i].to, x->data_len) - zeros[i].from);

        sweep(r, x->data, x->data_len, SHORTEST_ANYWHERE);
        sweep_swapped(r, x->data, x->data_len, SHORTEST_ANYWHERE);
        if (kind == DATA_ATA_IDENTIFY)
                redact_identify(r, x);
        if (kind == DATA_NVME_CONTROLLER)
                redact_controller(r, x);
        if (sealed)
                identify_seal(x);
}

void redact_done(Redaction *r) {
        free(r->secrets);
}
