/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shell-frames.h"

/* Of what comes next in it. */
static Chance list_next(const List *l) {
        if (!l->operator)
                return CHANCE_GIVEN;
        return l->operator== '&' ? l->chance : chance_opposite(l->chance);
}

void list_add(List *l, Chance c, unsigned line) {
        if (l->negated)
                c = chance_opposite(c);
        if (!l->begun)
                l->line = line;

        if (!l->operator|| l->chance ==(l->operator== '&' ? CHANCE_GIVEN : CHANCE_MISSING))
                l->chance = c;
        l->begun = true;
        l->negated = l->continued = false;
}

void list_end(List *l) {
        if (!l->continued && l->begun)
                *l = (List){ .last = l->chance };
}

void list_join(List *l, char operator) {
        l->operator= operator;
        l->continued = true;
}

unsigned branches_decided(const Branches *b) {
        const Frame *f = frame_innermost(b);

        if (f->decided || f->cut)
                return f->decided ?: f->cut_line;
        return list_next(&f->list) != CHANCE_GIVEN ? f->list.line : 0;
}

/* What runs once whenever that does in which it stands. */
static bool is_transparent(const Frame *f) {
        return !f->maybe && !f->joined && (f->kind == FRAME_BRACES || f->kind == FRAME_IF || f->kind == FRAME_CASE);
}

bool branches_place(const Branches *b, BranchPlace *ret) {
        size_t i = b->n_frames - 1;

        while (i > 0 && is_transparent(&b->frames[i]))
                i--;
        *ret = (BranchPlace){ i, b->frames[i].branch };
        return list_next(&frame_innermost(b)->list) == CHANCE_GIVEN;
}

bool branches_hold(const Branches *b, const BranchPlace *p, bool *ret_again) {
        *ret_again = frame_innermost(b)->again > p->frame;
        return p->frame < b->n_frames && b->frames[p->frame].branch == p->branch;
}

bool frame_is_missing(const Frame *f) {
        return f->missing || list_next(&f->list) == CHANCE_MISSING;
}

int frame_push(Branches *b, FrameKind kind) {
        Frame *frames, new = { .kind = kind, .branch = b->n_begun++ };

        if (b->n_frames > 0) {
                new.joined = list_next(&frame_innermost(b)->list) != CHANCE_GIVEN;
                new.again = kind == FRAME_LOOP || kind == FRAME_FUNCTION ? b->n_frames : frame_innermost(b)->again;
                new.outer = new.decided = branches_decided(b);
                new.outer_missing = new.missing = frame_is_missing(frame_innermost(b));
        }

        /* In steps that double. */
        if ((b->n_frames & (b->n_frames - 1)) == 0) {
                frames = reallocarray(b->frames, MAX(b->n_frames * 2, 1U), sizeof(Frame));
                if (!frames)
                        return -ENOMEM;
                b->frames = frames;
        }
        b->frames[b->n_frames++] = new;
        b->n_open[kind]++;
        return 0;
}

int frame_push_decision(Branches *b, FrameKind kind) {
        Decision *decisions;
        size_t n = b->n_met++;
        int r;

        r = frame_push(b, kind);
        if (r < 0)
                return r;
        frame_innermost(b)->decision = n;
        if (n < b->n_decisions)
                return 0;

        if ((n & (n - 1)) == 0) {
                decisions = reallocarray(b->decisions, MAX(n * 2, 1U), sizeof(Decision));
                if (!decisions)
                        return -ENOMEM;
                b->decisions = decisions;
        }
        b->decisions[b->n_decisions++] = (Decision){};
        return 0;
}

/* Behind the end of a branch another one is reached in spite of an exit in this one. */
void frame_end_branch(Branches *b) {
        Frame *f = frame_innermost(b);

        list_end(&f->list);
        f->left |= f->cut;
        f->cut = 0;
        if (f->kind == FRAME_CASE) {
                f->n_setting += f->sets;
                f->sets = false;
        }
        f->branch = b->n_begun++;
        f->maybe = false;
        f->decided = f->outer;
        f->missing = f->outer_missing;
}

static Chance frame_chance(const Frame *f) {
        switch (f->kind) {
        case FRAME_BRACES:
        case FRAME_SUBSHELL:
                return f->list.last;
        case FRAME_IF:
        case FRAME_CASE:
                return CHANCE_OPEN;
        case FRAME_FILE:
        case FRAME_LOOP:
        case FRAME_FUNCTION:
        case _FRAME_KIND_MAX:
                break;
        }

        return CHANCE_GIVEN;
}

void frame_pop(Branches *b, unsigned line) {
        Frame f, *outer;
        unsigned cut;

        frame_end_branch(b);
        f = *frame_innermost(b);
        b->n_frames--;
        b->n_open[f.kind]--;
        outer = frame_innermost(b);

        cut = f.left;
        if (f.kind == FRAME_LOOP)
                cut &= ~(unsigned) CUT_LOOP;
        if (f.kind == FRAME_SUBSHELL)
                cut = 0;
        if (f.kind == FRAME_FUNCTION) {
                Function *function = &b->functions[f.decision];

                function->sets = function->sets || f.sets || f.n_setting > 0;
                function->exits = function->exits || (cut & CUT_SHELL);
                return;
        }

        if (f.kind == FRAME_CASE)
                b->decisions[f.decision].n_setting = f.n_setting;
        outer->sets = outer->sets || f.sets || f.n_setting > 0;
        if (cut && !outer->cut)
                outer->cut_line = f.cut_line;
        outer->cut |= cut;
        list_add(&outer->list, frame_chance(&f), line);
}

/* The innermost frame of one of these kinds, and with it all in it that was not closed. */
void frame_pop_kind(Branches *b, FrameKind kind, FrameKind or_kind, unsigned line) {
        bool found = false;

        while (b->n_open[kind] + b->n_open[or_kind] > 0 && !found) {
                FrameKind innermost_kind = frame_innermost(b)->kind;

                found = innermost_kind == kind || innermost_kind == or_kind;
                frame_pop(b, line);
        }
}
