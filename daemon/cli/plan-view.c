/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "color.h"
#include "human.h"
#include "json-add.h"
#include "plan-view.h"
#include "table.h"
#include "text.h"

/* The texts of one step, in the words of table and JSON alike. NULL: not known. */
typedef struct StepView {
        char wanted_buf[VALUE_TEXT_MAX], present_buf[VALUE_TEXT_MAX];
        const char *wanted, *present;
        char *rule;
} StepView;

void drive_plan_done(DrivePlan *p) {
        plan_done(&p->plan);
        wishes_done(&p->wishes);
}

const char *step_action(const Step *s) {
        return s->write ? "write" : verdict_to_string(s->verdict);
}

static void step_view_done(StepView *v) {
        free(v->rule);
}

static int step_view_init(StepView *v, const Step *s, const SettingTable *t) {
        const Setting *setting = s->setting ?: setting_find(t, s->wish->name);

        *v = (StepView){};
        if (asprintf(&v->rule, "%s:%u", s->wish->file, s->wish->line) < 0) {
                v->rule = NULL;
                return -ENOMEM;
        }

        if (setting && !s->wish->withheld)
                v->wanted = value_format(&setting->range, &s->wish->value, v->wanted_buf);
        if (setting && s->before.known)
                v->present = value_format(&setting->range, &s->before.value, v->present_buf);
        return 0;
}

int plan_view_table(const DrivePlan *plans, size_t n, const SettingTable *t, Table **ret) {
        /* clang-format off */
        static const Column columns[] = {
                { .name = "DRIVE" },
                { .name = "SETTING" },
                { .name = "WANTED" },
                { .name = "PRESENT" },
                { .name = "ACTION", .color = verdict_color },
                { .name = "RULE", .wrap = true },
        };
        /* clang-format on */
        _cleanup_(table_freep) Table *table = NULL;
        int r;

        r = table_new(columns, ELEMENTSOF(columns), &table);
        if (r < 0)
                return r;

        for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < plans[i].plan.n_steps; j++) {
                        const Step *s = plans[i].plan.steps + j;
                        _cleanup_(step_view_done) StepView v = {};

                        r = step_view_init(&v, s, t);
                        if (r >= 0)
                                r = table_add(table,
                                              (const char *const[ELEMENTSOF(columns)]){
                                                              plans[i].drive->name, s->wish->name, v.wanted, v.present,
                                                              step_action(s), rule_format_short(v.rule) });
                        if (r < 0)
                                return r;
                }

        *ret = TAKE_PTR(table);
        return 0;
}

/* The shapes below are documented in drivekeep(1) and stay as they are; more keys may be added. */
static int step_json(const Step *s, const SettingTable *t, struct json_object **ret) {
        _cleanup_(step_view_done) StepView v = {};
        int r;

        r = step_view_init(&v, s, t);
        if (r < 0)
                return r;

        const JsonText texts[] = {
                { "name", s->wish->name },
                { "wanted", v.wanted },
                { "present", v.present },
                { "action", step_action(s) },
                { "reason", s->reason[0] ? s->reason : NULL },
                { "rule", v.rule },
        };
        return json_object_of_texts(texts, ELEMENTSOF(texts), ret);
}

static int drive_json(const DrivePlan *p, const SettingTable *t, struct json_object **ret) {
        const JsonText texts[] = {
                { "name", p->drive->name },     { "node", p->drive->node }, { "model", p->drive->model },
                { "serial", p->drive->serial }, { "wwn", p->drive->wwn },
        };
        _cleanup_(json_putp) struct json_object *o = NULL;
        struct json_object *settings;
        int r;

        r = json_object_of_texts(texts, ELEMENTSOF(texts), &o);
        if (r < 0)
                return r;

        settings = json_object_new_array();
        r = json_add(o, "settings", settings);
        if (r < 0)
                return r;

        for (size_t i = 0; i < p->plan.n_steps; i++) {
                struct json_object *s = NULL;

                r = step_json(p->plan.steps + i, t, &s);
                if (r >= 0)
                        r = json_append(settings, s);
                if (r < 0)
                        return r;
        }

        *ret = TAKE_PTR(o);
        return 0;
}

int plan_view_json(const DrivePlan *plans, size_t n, const SettingTable *t, struct json_object **ret) {
        _cleanup_(json_putp) struct json_object *array = NULL;

        array = json_object_new_array();
        if (!array)
                return -ENOMEM;

        for (size_t i = 0; i < n; i++) {
                struct json_object *o = NULL;
                int r;

                r = drive_json(plans + i, t, &o);
                if (r >= 0)
                        r = json_append(array, o);
                if (r < 0)
                        return r;
        }

        *ret = TAKE_PTR(array);
        return 0;
}

int plan_view_notes(const DrivePlan *plans, size_t n, FILE *f) {
        for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < plans[i].plan.n_steps; j++) {
                        const Step *s = plans[i].plan.steps + j;
                        _cleanup_free_ char *reason = NULL;

                        if (s->reason[0] == '\0')
                                continue;
                        reason = text_escape(s->reason, NULL);
                        if (!reason)
                                return -ENOMEM;
                        fprintf(f, "%s %s: %s\n", plans[i].drive->name, s->wish->name, reason);
                }

        return 0;
}

static int plan_view_print_text(const DrivePlan *plans, size_t n, const SettingTable *t) {
        _cleanup_(table_freep) Table *table = NULL;
        int r;

        r = plan_view_table(plans, n, t, &table);
        if (r >= 0)
                r = table_print(table);
        if (r < 0)
                return r;

        return plan_view_notes(plans, n, stdout);
}

static int plan_view_print_json(const DrivePlan *plans, size_t n, const SettingTable *t) {
        _cleanup_(json_putp) struct json_object *o = NULL;
        int r;

        r = plan_view_json(plans, n, t, &o);
        if (r < 0)
                return r;

        return json_print(o);
}

int plan_view_print(const DrivePlan *plans, size_t n, const SettingTable *t, bool json) {
        int r;

        r = json ? plan_view_print_json(plans, n, t) : plan_view_print_text(plans, n, t);
        if (r < 0)
                return r;

        for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < plans[i].plan.n_steps; j++)
                        if (plans[i].plan.steps[j].write || !verdict_is_wanted(plans[i].plan.steps[j].verdict))
                                return EXIT_NOT_WANTED;

        return EXIT_WANTED;
}
