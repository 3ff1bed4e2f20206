/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "verb.h"

ExitStatus exit_of_verdict(Verdict v, bool optional) {
        return verdict_is_fine(v, optional) ? EXIT_WANTED : verdict_is_pending(v) ? EXIT_LATER : EXIT_NOT_WANTED;
}

ExitStatus exit_worse(ExitStatus a, ExitStatus b) {
        return a == EXIT_WANTED || (a == EXIT_LATER && b != EXIT_WANTED) ? b : a;
}
