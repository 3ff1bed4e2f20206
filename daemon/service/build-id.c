/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <elf.h>
#include <link.h>
#include <stdio.h>

#include "build-id.h"
#include "macro.h"

#define ID_MAX 20U

/* In a note of the ELF format: its header, its name "GNU", the bytes; each part begins at a multiple of four. */
static void read_notes(const uint8_t *p, size_t left, char *ret, size_t size) {
        while (left >= sizeof(ElfW(Nhdr))) {
                const ElfW(Nhdr) *h = (const ElfW(Nhdr) *) p;
                size_t name = (h->n_namesz + 3U) & ~3U, bytes = (h->n_descsz + 3U) & ~3U;

                if (left - sizeof *h < name || left - sizeof *h - name < bytes)
                        return;
                p += sizeof *h;
                for (size_t i = 0; h->n_type == NT_GNU_BUILD_ID && i < MIN(h->n_descsz, ID_MAX); i++)
                        (void) snprintf(ret + 2 * i, size - 2 * i, "%02x", p[name + i]);
                p += name + bytes;
                left -= sizeof *h + name + bytes;
        }
}

/* The first object is the program itself. */
static int read_program(struct dl_phdr_info *info, size_t info_size _unused_, void *userdata) {
        for (size_t i = 0; i < info->dlpi_phnum; i++) {
                const ElfW(Phdr) *h = info->dlpi_phdr + i;

                if (h->p_type == PT_NOTE && h->p_align == 4)
                        read_notes((const uint8_t *) info->dlpi_addr + h->p_vaddr, h->p_memsz, userdata,
                                   2 * ID_MAX + 1);
        }
        return 1;
}

const char *build_identity(void) {
        static char identity[BUILD_MAX];
        char id[2 * ID_MAX + 1] = "none";

        if (!identity[0]) {
                (void) dl_iterate_phdr(read_program, id);
                (void) snprintf(identity, sizeof identity, DRIVEKEEP_VERSION " (build %s)", id);
        }
        return identity;
}
