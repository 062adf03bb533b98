/* SPDX-License-Identifier: Apache-2.0 */
/* The formats by name, and the reporter around each. */
#include "formats.h"
#include <stdlib.h>
#include <string.h>

static const hayai_format *const formats[] = {
    &hayai_format_json,  &hayai_format_jsonl,    &hayai_format_tsv,
    &hayai_format_junit, &hayai_format_markdown,
};

typedef struct writer {
    const hayai_format *format;
    hayai_output output;
    void *memory;
} writer;

static hayai_status on_context(const hayai_context *machine, void *user)
{
    writer *self = user;
    self->format->context(&self->output, machine, self->memory);
    return hayai_output_commit(&self->output, false);
}

static hayai_status on_report(const hayai_run *runs, size_t count, void *user)
{
    writer *self = user;
    for (size_t i = 0; i < count; i++)
        self->format->run(&self->output, &runs[i], self->memory);
    return hayai_output_commit(&self->output, false);
}

static hayai_status on_list(const char *const *names, size_t count, void *user)
{
    writer *self = user;
    hayai_output *output = &self->output;
    if (self->format->list)
        self->format->list(output, names, count);
    for (size_t i = 0; i < count && !self->format->list; i++) {
        hayai_text_add(&output->body, names[i]);
        hayai_text_add(&output->body, "\n");
    }
    return hayai_output_commit(output, true);
}

static hayai_status on_finalize(void *user)
{
    writer *self = user;
    return hayai_output_commit(&self->output, true);
}

static const hayai_format *find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

hayai_status hayai_format_open(const char *name, const char *path, hayai_reporter *reporter)
{
    const hayai_format *format = find(name);
    if (!format)
        return hayai_fail_format(
            HAYAI_ERROR_ARGUMENT,
            "output format %s: expected console, json, jsonl, tsv, junit, markdown, "
            "csv, google-json or none",
            name);
    writer *self = calloc(1, sizeof *self);
    void *memory = calloc(1, format->memory + 1);
    if (!self || !memory) {
        free(self);
        free(memory);
        return hayai_fail_format(HAYAI_ERROR_MEMORY, "out of memory (report)");
    }
    self->format = format;
    self->memory = memory;
    const hayai_status status = hayai_output_open(&self->output, format->kind, path);
    if (status != HAYAI_OK) {
        hayai_format_close(self);
        return status;
    }
    *reporter = (hayai_reporter){.context = on_context,
                                 .report = on_report,
                                 .finalize = on_finalize,
                                 .list = on_list,
                                 .user = self,
                                 .file = path != NULL};
    return HAYAI_OK;
}

void hayai_format_close(void *user)
{
    writer *self = user;
    if (!self)
        return;
    hayai_output_close(&self->output);
    if (self->format->release)
        self->format->release(self->memory);
    free(self->memory);
    free(self);
}
