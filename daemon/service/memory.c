/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "macro.h"
#include "memory.h"

/* Releases the read-only segments of the program or of one library. The segments have no relocations, so the kernel can
 * read them from the file again. The segment with the program headers is released last: the loop reads the headers, and
 * each read would map the segment again, with 64 KiB around the header. */
static int on_object(struct dl_phdr_info *info, size_t size _unused_, void *userdata) {
        const uintptr_t *page = userdata, headers = (uintptr_t) info->dlpi_phdr;
        uintptr_t last = 0, last_end = 0;

        for (size_t i = 0; i < info->dlpi_phnum; i++) {
                const ElfW(Phdr) *p = info->dlpi_phdr + i;
                uintptr_t start, end;

                if (p->p_type != PT_LOAD || (p->p_flags & PF_W))
                        continue;

                start = (info->dlpi_addr + p->p_vaddr) & ~(*page - 1);
                end = (info->dlpi_addr + p->p_vaddr + p->p_memsz + *page - 1) & ~(*page - 1);
                if (start <= headers && headers < end) {
                        last = start;
                        last_end = end;
                } else
                        (void) madvise((void *) start, end - start, MADV_DONTNEED);
        }

        if (last != 0)
                (void) madvise((void *) last, last_end - last, MADV_DONTNEED);
        return 0;
}

void memory_trim(void) {
        uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);

        (void) malloc_trim(0);
        (void) dl_iterate_phdr(on_object, &page);
}
