/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config-brackets.h"
#include "config-option.h"
#include "config-outline.h"

typedef struct Outliner {
        ConfigText *text;
        Outline outline;
        size_t n_allocated;
        size_t i;          /* the next token */
        Brackets brackets; /* open inside the section being read */
        size_t brace;      /* the first '{' or '}' at or behind i, when it is not behind brace */
        size_t drives;     /* where the list began; 0: not yet, as a list cannot begin with the first token */
        bool misnamed;     /* the list being read is not called "drives" … */
        size_t list_name;  /* … but this */
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

/* The block read last, or NULL. */
static Section *last_block(const Outliner *o) {
        size_t n = o->outline.n_sections;

        return n > 0 && o->outline.sections[n - 1].block ? &o->outline.sections[n - 1] : NULL;
}

/* The first brace at or behind o->i, or the end. */
static size_t next_brace(Outliner *o) {
        TokenType type;

        if (o->brace < o->i)
                for (o->brace = o->i; (type = token_type(o, o->brace)) != TOKEN_END; o->brace++)
                        if (type == TOKEN_GROUP || type == TOKEN_GROUP_END)
                                break;

        return o->brace;
}

/* Whether the next brace behind a ')' is still one of a block: then the ')' is a slip, and not the end of the list. */
static bool brace_is_inside(Outliner *o) {
        size_t brace = next_brace(o);
        TokenType type = token_type(o, brace);

        if (type == TOKEN_GROUP)
                return token_type(o, brace - 1) == TOKEN_EQUALS && !token_is_name(o->text, brace - 2, CONFIG_DRIVES);

        return type == TOKEN_GROUP_END;
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
        o->brackets.n_open = 0;
        for (;; o->i++) {
                TokenType type = token_type(o, o->i);
                bool unclosed = type == TOKEN_END;

                s->end = o->i;
                if (type == TOKEN_GROUP)
                        unclosed = !brackets_open_value(&o->brackets, o->i);
                if (!unclosed && !brackets_pass(&o->brackets, o->i)) {
                        if (type == TOKEN_GROUP_END) {
                                o->i++;
                                break;
                        }
                        if (type == TOKEN_LIST_END && !brace_is_inside(o)) {
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
        Section s = block_here(o), *before = last_block(o);
        int r;

        /* The '{' at which a block was found not to be closed; with a match, it begins the next one. */
        s.broken = before && before->broken && before->end == o->i && !token_is_name(o->text, o->i + 1, "match");
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
                Section *before = last_block(o);

                /* A match begins a block; anything else may be the rest of the one before. */
                if (before && !token_is_name(o->text, o->i, "match"))
                        before->broken = true;
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
                        /* But a group behind ");" is no block's. */
                        bool ended = token_type(o, o->i + 1) == TOKEN_SEMICOLON &&
                                     token_type(o, next_brace(o)) == TOKEN_GROUP;

                        if (!block_follows(o) && (ended || !brace_is_inside(o))) {
                                o->i++;
                                return 0;
                        }
                        r = config_text_error(o->text, o->i++, "here the list is closed, but more blocks follow");
                        separated = true;
                } else if (type == TOKEN_GROUP_END) {
                        Section *before = last_block(o);

                        if (before)
                                before->brace_behind = true;
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

        o->brackets.n_open = 0;
        for (o->i += 2; token_type(o, o->i) != TOKEN_END && !is_option(o, o->i); o->i++) {
                TokenType type = token_type(o, o->i);

                if (o->brackets.n_open == 0 && (separates(type) || token_starts_statement(o->text, o->i)))
                        break;
                (void) brackets_pass(&o->brackets, o->i);
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
        Outliner o = { .text = t, .brackets.text = t };
        int r;

        o.brackets.open = open = calloc(t->n_tokens, sizeof(size_t));
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
