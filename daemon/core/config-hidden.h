/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a broken block may hide: settings that it was to set, but that cannot be told from its statements. */

#include "config-statement.h"

/* Whether it may be a name. */
bool token_is_wordy(const ConfigText *t, size_t token);

/* Whether no comment stands between this token and the next. */
bool gap_is_blank(const ConfigText *t, size_t token);

/* Whether a broken block may have more statements than these. */
bool section_hides_statements(const ConfigText *t, const Section *section, const Statements *statements);
