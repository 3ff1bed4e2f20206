/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks which pages memory_trim() releases. The test supplies the segments of objects. The linker's --wrap replaces the functions that
 * release memory. */

#include <link.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/mman.h>

#include "done-log.h"
#include "memory.h"
#include "suite.h"

#define BASE ((uintptr_t) 0x7000000000)

static uintptr_t base = BASE;
static uintptr_t page;
static const struct dl_phdr_info *objects;
static size_t n_objects;
static ElfW(Phdr) * phdrs; /* the first object's program header, allocated alone so that ASan detects reads after it */

int __wrap_dl_iterate_phdr(int (*fn)(struct dl_phdr_info *, size_t, void *), void *userdata);
int __wrap_dl_iterate_phdr(int (*fn)(struct dl_phdr_info *, size_t, void *), void *userdata) {
        int r = 0;

        for (size_t i = 0; i < n_objects && r == 0; i++) {
                struct dl_phdr_info info = objects[i];

                r = fn(&info, sizeof info, userdata);
        }
        return r;
}

/* Records the call as "FIRST+COUNT": the first page, counted from the start of the object, and the number of pages. */
int __wrap_madvise(void *start, size_t size, int advice);
int __wrap_madvise(void *start, size_t size, int advice) {
        uintptr_t from = (uintptr_t) start - base;

        ck_assert_int_eq(advice, MADV_DONTNEED);
        ck_assert(from % page == 0 && size % page == 0);
        note("%zu+%zu", (size_t) (from / page), (size_t) (size / page));
        return 0;
}

int __wrap_malloc_trim(size_t keep);
int __wrap_malloc_trim(size_t keep) {
        note("trim:%zu", keep);
        return 1;
}

/* All segments begin in the object's fourth page. */
static const struct {
        uint32_t type, flags;
        unsigned skip;           /* offset of the segment in the fourth page, in bytes */
        unsigned n_pages, bytes; /* length of the segment: n_pages whole pages and `bytes` bytes */
        const char *done;
} segments[] = {
        { PT_LOAD, PF_R, 0, 1, 0, "3+1 " },   { PT_LOAD, PF_R | PF_X, 0, 2, 0, "3+2 " },
        { PT_LOAD, PF_R, 0, 0, 1, "3+1 " },   { PT_LOAD, PF_R, 0, 1, 1, "3+2 " },
        { PT_LOAD, PF_R, 0, 1, 2, "3+2 " },   { PT_LOAD, PF_R, 1, 1, 0, "3+2 " },
        { PT_LOAD, PF_R, 100, 4, 0, "3+5 " }, { PT_LOAD, PF_R | PF_W, 0, 1, 0, "" },
        { PT_LOAD, PF_W, 0, 1, 0, "" },       { PT_PHDR, PF_R, 0, 1, 0, "" },
        { PT_GNU_RELRO, PF_R, 0, 1, 0, "" },  { PT_DYNAMIC, PF_R | PF_W, 0, 1, 0, "" },
};

static ElfW(Phdr) segment(size_t i) {
        return (ElfW(Phdr)){ .p_type = segments[i].type,
                             .p_flags = segments[i].flags,
                             .p_vaddr = 3 * page + segments[i].skip,
                             .p_memsz = segments[i].n_pages * page + segments[i].bytes };
}

/* A loaded segment without write access is released in whole pages, including pages that the segment fills only in part. Other segments
 * are not released. */
START_TEST(test_segment) {
        char expected[64];

        *phdrs = segment(_i);
        memory_trim();
        (void) snprintf(expected, sizeof expected, "trim:0 %s", segments[_i].done);
        ck_assert_str_eq(all_done(), expected);
}
END_TEST

/* The segments without write access are released in every object. Nothing beyond the program headers is read. */
START_TEST(test_objects) {
        ElfW(Phdr) others[] = { segment(1), segment(7), segment(6) };
        const struct dl_phdr_info several[] = {
                *objects,
                { .dlpi_addr = BASE + 16 * page, .dlpi_phdr = others, .dlpi_phnum = ELEMENTSOF(others) }
        };

        *phdrs = segment(0);
        objects = several;
        n_objects = ELEMENTSOF(several);
        memory_trim();
        ck_assert_str_eq(all_done(), "trim:0 3+1 19+2 19+5 ");
}
END_TEST

/* The segment that contains the program headers is released last, since the headers must not be read after their
 * release. */
START_TEST(test_headers) {
        ElfW(Phdr) *own = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const ElfW(Phdr) load = { .p_type = PT_LOAD, .p_flags = PF_R, .p_memsz = page };
        const struct dl_phdr_info object = { .dlpi_addr = (uintptr_t) own, .dlpi_phdr = own + 1, .dlpi_phnum = 2 };

        ck_assert(own != MAP_FAILED);
        own[1] = own[2] = load;
        own[2].p_vaddr = page;
        base = (uintptr_t) own;
        objects = &object;
        memory_trim();
        ck_assert_str_eq(all_done(), "trim:0 1+1 0+1 ");
        ck_assert_int_eq(munmap(own, page), 0);
}
END_TEST

static void setup(void) {
        static struct dl_phdr_info one;

        page = (uintptr_t) sysconf(_SC_PAGESIZE);
        phdrs = calloc(1, sizeof *phdrs);
        ck_assert_ptr_nonnull(phdrs);
        one = (struct dl_phdr_info){ .dlpi_addr = BASE, .dlpi_phdr = phdrs, .dlpi_phnum = 1 };
        objects = &one;
        n_objects = 1;
}

static void teardown(void) {
        free(phdrs);
}

int main(void) {
        Suite *s = suite_create("memory");
        TCase *t = tcase_create("memory");

        tcase_add_checked_fixture(t, setup, teardown);
        tcase_add_loop_test(t, test_segment, 0, ELEMENTSOF(segments));
        tcase_add_test(t, test_objects);
        tcase_add_test(t, test_headers);
        suite_add_tcase(s, t);

        return suite_run(s);
}
