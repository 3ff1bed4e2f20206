/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <err.h>
#include <fcntl.h>

#include "output.h"
#include "safe-file.h"
#include "svg.h"
#include "verb.h"

void svg_begin(FILE *f, unsigned width, unsigned height, const char *title) {
        fprintf(f,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
                "font-family=\"sans-serif\" font-size=\"12\">\n<title>",
                width, height, width, height);
        svg_put_text(f, title);
        fprintf(f, "</title>\n<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n", width, height);
}

/* XML has no U+FFFE and U+FFFF. */
void svg_put_text(FILE *f, const char *text) {
        _cleanup_free_ char *escaped = must(text_escape(text, NULL));

        for (const char *p = escaped; *p; p++)
                if (starts_with(p, "\xef\xbf\xbe") || starts_with(p, "\xef\xbf\xbf")) {
                        (void) fputc('?', f);
                        p += 2;
                } else if (*p == '<')
                        (void) fputs("&lt;", f);
                else if (*p == '>')
                        (void) fputs("&gt;", f);
                else if (*p == '&')
                        (void) fputs("&amp;", f);
                else
                        (void) fputc(*p, f);
}

/* What is no file, such as /dev/stdout, is not replaced by one. */
int svg_write(const char *path, const char *text) {
        _cleanup_free_ char *parent = must_directory(path);
        _cleanup_close_ int fd = -EBADF;
        struct stat st;
        int r;

        if (streq(path, "-")) {
                (void) fputs(text, stdout);
                return EXIT_WANTED;
        }
        fd = directory_open(parent);
        if (fstatat(fd, base_name(path), &st, AT_SYMLINK_NOFOLLOW) >= 0 && !S_ISREG(st.st_mode)) {
                warn_escaped("%s is not a regular file, and is left as it is; '-' is standard output", path);
                return EXIT_BAD_INPUT;
        }

        r = fd < 0 ? fd : must_not_fail(file_replace(fd, base_name(path), text, false));
        if (r >= 0)
                return EXIT_WANTED;
        warn_escaped("%s cannot be written: %s", path, directory_error(r));
        return EXIT_BAD_INPUT;
}
