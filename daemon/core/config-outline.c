/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config-option.h"
#include "config-outline.h"

typedef struct Outliner {
        ConfigText *text;
        Outline outline;
        size_t n_allocated;
        size_t i;     /* the next token */
        size_t *open; /* brackets open inside the section being read, outermost first */
        size_t n_open;
        size_t brace;     /* the first '{' or '}' at or behind i, when it is not behind brace */
        size_t drives;    /* where the list began; 0: not yet, as a list cannot begin with the first token */
        bool misnamed;    /* the list being read is not called "drives" … */
        size_t list_name; /* … but this */
} Outliner;

static TokenType token_type(const Outliner *o, size_t i) {
        return o->text->tokens[i].type;
}

static bool separates(TokenType type) {
        return type == TOKEN_COMMA || type == TOKEN_SEMICOLON;
}

static bool is_option(const Outliner *o, size_t i) {
        if (token_type(o, i + 1) != TOKEN_EQUALS)
                return false;
        if (token_is_name(o->text, i, CONFIG_DRIVES))
                return true;

        for (const ConfigOption *p = config_options; p->name; p++)
                if (token_is_name(o->text, i, p->name))
                        return true;

        return false;
}

static Section block_here(const Outliner *o) {
        return (Section){ .block = true, .start = o->i, .misnamed = o->misnamed, .list_name = o->list_name };
}

static int add_section(Outliner *o, const Section *s) {
        if (o->outline.n_sections == o->n_allocated) {
                size_t n = MAX(o->n_allocated * 2, 64U);
                Section *sections = reallocarray(o->outline.sections, n, sizeof(Section));

                if (!sections)
                        return -ENOMEM;
                o->outline.sections = sections;
                o->n_allocated = n;
        }

        o->outline.sections[o->outline.n_sections++] = *s;
        return 0;
}

/* Of the nth bracket that is open, 1 for the innermost; TOKEN_END: there are not so many. */
static TokenType open_type(const Outliner *o, size_t n) {
        return n <= o->n_open ? token_type(o, o->open[o->n_open - n]) : TOKEN_END;
}

/* Keeps track of the bracket at o->i. Returns false when it closes nothing of this section. */
static bool track_bracket(Outliner *o) {
        TokenType type = token_type(o, o->i), opening;

        if (type == TOKEN_GROUP || type == TOKEN_LIST || type == TOKEN_ARRAY) {
                o->open[o->n_open++] = o->i;
                return true;
        }

        if (type == TOKEN_GROUP_END) {
                /* '}' is surest: it closes what is open within its group, too. */
                while (o->n_open > 0 && open_type(o, 1) != TOKEN_GROUP)
                        o->n_open--;
                opening = TOKEN_GROUP;
        } else if (type == TOKEN_LIST_END || type == TOKEN_ARRAY_END) {
                TokenType other = type == TOKEN_LIST_END ? TOKEN_ARRAY : TOKEN_LIST;

                opening = type == TOKEN_LIST_END ? TOKEN_LIST : TOKEN_ARRAY;
                if (open_type(o, 1) == other && open_type(o, 2) == opening)
                        o->n_open--;
        } else
                return true;

        if (open_type(o, 1) != opening)
                return false;

        o->text->tokens[o->open[--o->n_open]].partner = o->i;
        return true;
}

/* A '{' that is no value begins a block: the one before it was not closed. */
static bool brace_is_value(const Outliner *o) {
        TokenType before = token_type(o, o->i - 1), around = open_type(o, 1);

        if (token_is_name(o->text, o->i + 1, "match"))
                return false;
        if (before == TOKEN_EQUALS)
                return true;

        return (around == TOKEN_LIST || around == TOKEN_ARRAY) &&
               (before == TOKEN_LIST || before == TOKEN_ARRAY || before == TOKEN_COMMA);
}

/* Whether the next brace behind a ')' closes a block: then the ')' is a slip, and not the end of the list. */
static bool brace_closes(Outliner *o) {
        TokenType type;

        if (o->brace < o->i)
                for (o->brace = o->i; (type = token_type(o, o->brace)) != TOKEN_END; o->brace++)
                        if (type == TOKEN_GROUP || type == TOKEN_GROUP_END)
                                break;

        return token_type(o, o->brace) == TOKEN_GROUP_END;
}

/* Whether another block, even without its '{', follows the bracket at o->i: then it is not the end of the list. */
static bool block_follows(const Outliner *o) {
        size_t k = o->i + 1;

        if (separates(token_type(o, k)))
                k++;
        return token_type(o, k) == TOKEN_GROUP || token_is_name(o->text, k, "match");
}

static bool ends_list(TokenType type) {
        return type == TOKEN_LIST_END || type == TOKEN_ARRAY_END;
}

static int complain_unclosed(Outliner *o, size_t start) {
        if (token_type(o, o->i) == TOKEN_END)
                return config_text_error(o->text, start, "this block is not closed; write \"}\" at its end");

        return config_text_error(o->text, start, "this block is not closed; write \"}\" before the \"%.*s\" in line %u",
                                 TOKEN_QUOTED(o->text, o->i), o->text->tokens[o->i].line);
}

/* Finds the end of the block that begins with the token before o->i, or at o->i when its '{' is missing. */
static int read_block(Outliner *o, Section *s) {
        int r = 0;

        s->inside = o->i;
        o->n_open = 0;
        for (;; o->i++) {
                TokenType type = token_type(o, o->i);
                bool unclosed = type == TOKEN_END;

                s->end = o->i;
                if (type == TOKEN_GROUP)
                        unclosed = !brace_is_value(o);
                if (!unclosed && !track_bracket(o)) {
                        if (type == TOKEN_GROUP_END) {
                                o->i++;
                                break;
                        }
                        if (type == TOKEN_LIST_END && !brace_closes(o)) {
                                if (block_follows(o)) {
                                        s->broken = true;
                                        r = config_text_error(o->text, o->i++,
                                                              "here a block is closed by \")\", write \"}\"");
                                        break;
                                }
                                unclosed = true;
                        }
                }
                if (unclosed) {
                        s->broken = true;
                        r = complain_unclosed(o, s->start);
                        break;
                }
        }

        return r < 0 ? r : add_section(o, s);
}

static int read_braced_block(Outliner *o) {
        Section s = block_here(o);
        int r;

        o->i++;
        /* On another line it is the next block. */
        if (token_type(o, o->i) == TOKEN_GROUP && o->text->tokens[o->i].line == o->text->tokens[s.start].line) {
                s.broken = true;
                r = config_text_error(o->text, o->i, "here is one \"{\" too many: a block begins with one");
                if (r < 0)
                        return r;
                while (token_type(o, o->i) == TOKEN_GROUP)
                        o->i++;
        }

        return read_block(o, &s);
}

/* Anything between blocks that is none. What it was meant to be is not known, so it counts as a broken block. */
static int read_debris(Outliner *o) {
        Section s = block_here(o);
        int r;

        s.broken = true;
        if (token_starts_statement(o->text, o->i)) {
                r = config_text_error(o->text, o->i, "this stands between blocks; is a \"{\" missing before it?");
                return r < 0 ? r : read_block(o, &s);
        }

        if (token_type(o, o->i) == TOKEN_LIST && token_type(o, o->i + 1) == TOKEN_GROUP)
                return config_text_error(o->text, o->i++, "here is one \"(\" too many");

        r = config_text_error(o->text, o->i, "a block { … } must stand here, not \"%.*s\"",
                              TOKEN_QUOTED(o->text, o->i));
        if (r < 0)
                return r;

        s.inside = s.end = o->i;
        for (;; o->i++) {
                TokenType type = token_type(o, o->i);

                if (type == TOKEN_END || type == TOKEN_GROUP || type == TOKEN_GROUP_END || ends_list(type) ||
                    separates(type) || token_starts_statement(o->text, o->i))
                        break;
        }

        return add_section(o, &s);
}

/* Between the blocks of a list, from behind its '('. `bare`: it has none. */
static int read_list(Outliner *o, size_t start, bool bare) {
        bool separated = true;

        for (;;) {
                TokenType type = token_type(o, o->i);
                int r = 0;

                if (type == TOKEN_END || is_option(o, o->i))
                        return bare ? 0 : config_text_error(o->text, start, "this list is not closed; write \");\"");

                if (type == TOKEN_GROUP) {
                        if (!separated)
                                r = config_text_error(o->text, o->i,
                                                      "a comma is missing between this block and the one before it");
                        if (r >= 0)
                                r = read_braced_block(o);
                        /* Where a block was not closed, its comma is not the next thing to say. */
                        separated = r >= 0 && o->outline.sections[o->outline.n_sections - 1].broken;
                } else if (type == TOKEN_COMMA || type == TOKEN_REFUSED) {
                        o->i++;
                        separated = true;
                } else if (type == TOKEN_SEMICOLON) {
                        if (bare && !block_follows(o))
                                return 0;
                        r = config_text_error(o->text, o->i++, "between blocks stands a comma, not \";\"");
                        separated = true;
                } else if (ends_list(type)) {
                        if (!block_follows(o) && !brace_closes(o)) {
                                o->i++;
                                return 0;
                        }
                        r = config_text_error(o->text, o->i++, "here the list is closed, but more blocks follow");
                        separated = true;
                } else if (type == TOKEN_GROUP_END) {
                        r = config_text_error(o->text, o->i, "here is one \"}\" too many");
                        while (token_type(o, o->i) == TOKEN_GROUP_END)
                                o->i++;
                } else {
                        r = read_debris(o);
                        separated = true;
                }
                if (r < 0)
                        return r;
        }
}

/* A statement beside the list; a bracket that it leaves open ends before the next option at the latest. */
static int read_option(Outliner *o) {
        Section s = { .start = o->i, .inside = o->i };

        o->n_open = 0;
        for (o->i += 2; token_type(o, o->i) != TOKEN_END && !is_option(o, o->i); o->i++) {
                TokenType type = token_type(o, o->i);

                if (o->n_open == 0 && (separates(type) || token_starts_statement(o->text, o->i)))
                        break;
                (void) track_bracket(o);
        }

        s.end = o->i;
        return add_section(o, &s);
}

/* `drives = (`, and what looks like it. Sets o->i behind the bracket. */
static int read_drives(Outliner *o) {
        size_t name = o->i, start;
        bool named = token_is_name(o->text, name, CONFIG_DRIVES);
        int r = 0;

        o->misnamed = false;
        if (token_type(o, o->i + 1) == TOKEN_EQUALS)
                o->i += 2;
        else if (named)
                r = config_text_error(o->text, ++o->i, "a \"=\" is missing before this");
        else /* a bracket alone */
                r = config_text_error(o->text, name,
                                      "blocks stand in the list of drives only: drives = ( { … }, { … } );");
        if (r < 0)
                return r;

        if (token_type(o, name + 1) == TOKEN_EQUALS && !named) {
                o->misnamed = true; /* config-file.c complains of the name */
                o->list_name = name;
        } else if (named && o->drives > 0)
                r = config_text_error(o->text, name,
                                      "a second list of drives (the first: line %u); one holds all blocks",
                                      o->text->tokens[o->drives].line);
        else if (named)
                o->drives = o->i;
        if (r < 0)
                return r;

        start = o->i;
        if (token_type(o, start) == TOKEN_GROUP) {
                if (named)
                        r = config_text_error(o->text, start,
                                              "drives is a list, also of one block: drives = ( { … } );");
                return r < 0 ? r : read_list(o, start, true);
        }
        if (token_type(o, start) == TOKEN_ARRAY)
                r = config_text_error(o->text, start, "the list of drives begins with \"(\"");

        o->i++;
        return r < 0 ? r : read_list(o, start, false);
}

static bool starts_drives(const Outliner *o) {
        TokenType type = token_type(o, o->i), value;
        bool named = token_is_name(o->text, o->i, CONFIG_DRIVES);

        if (type == TOKEN_GROUP || (type == TOKEN_LIST && token_type(o, o->i + 1) == TOKEN_GROUP))
                return true;
        if (!token_starts_statement(o->text, o->i))
                return named && (token_type(o, o->i + 1) == TOKEN_LIST || token_type(o, o->i + 1) == TOKEN_GROUP);

        value = token_type(o, o->i + 2);
        if (named)
                return value == TOKEN_LIST || value == TOKEN_GROUP || value == TOKEN_ARRAY;
        return value == TOKEN_LIST && token_type(o, o->i + 3) == TOKEN_GROUP;
}

static int outline_read(Outliner *o) {
        bool debris = false;

        while (token_type(o, o->i) != TOKEN_END) {
                TokenType type = token_type(o, o->i);
                int r = 0;

                if (starts_drives(o)) {
                        r = read_drives(o);
                        debris = false;
                } else if (token_starts_statement(o->text, o->i)) {
                        r = read_option(o);
                        debris = false;
                } else if (debris || separates(type) || type == TOKEN_REFUSED)
                        o->i++;
                else {
                        debris = true;
                        r = config_text_error(o->text, o->i,
                                              "\"%.*s\" is not expected here; a file holds drives = ( … ); and options",
                                              TOKEN_QUOTED(o->text, o->i));
                }
                if (r < 0)
                        return r;
        }

        return 0;
}

int outline_make(ConfigText *t, Outline *ret) {
        _cleanup_free_ size_t *open = NULL;
        Outliner o = { .text = t };
        int r;

        o.open = open = calloc(t->n_tokens, sizeof(size_t));
        if (!open)
                return -ENOMEM;

        r = outline_read(&o);
        if (r < 0)
                outline_done(&o.outline);
        else
                *ret = o.outline;

        return r;
}

void outline_done(Outline *o) {
        free(o->sections);
        *o = (Outline){};
}
