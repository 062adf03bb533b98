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
    writer *writer = user;
    writer->format->context(&writer->output, machine, writer->memory);
    return hayai_output_commit(&writer->output, false);
}

static hayai_status on_report(const hayai_run *runs, size_t count, void *user)
{
    writer *writer = user;
    for (size_t i = 0; i < count; i++)
        writer->format->run(&writer->output, &runs[i], writer->memory);
    return hayai_output_commit(&writer->output, false);
}

static hayai_status on_finalize(void *user)
{
    writer *writer = user;
    return hayai_output_commit(&writer->output, true);
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
        return hayai_fail(HAYAI_ERROR_ARGUMENT,
                          "output format %s: expected console, json, jsonl, tsv, junit, markdown, "
                          "csv, google-json or none",
                          name);
    writer *writer = calloc(1, sizeof *writer);
    void *memory = calloc(1, format->memory + 1);
    if (!writer || !memory) {
        free(writer);
        free(memory);
        return hayai_fail(HAYAI_ERROR_MEMORY, "out of memory (report)");
    }
    writer->format = format;
    writer->memory = memory;
    const hayai_status status = hayai_output_open(&writer->output, format->kind, path);
    if (status != HAYAI_OK) {
        hayai_format_close(writer);
        return status;
    }
    *reporter = (hayai_reporter){.context = on_context,
                                 .report = on_report,
                                 .finalize = on_finalize,
                                 .user = writer,
                                 .file = path != NULL};
    return HAYAI_OK;
}

void hayai_format_close(void *user)
{
    writer *writer = user;
    if (!writer)
        return;
    hayai_output_close(&writer->output);
    if (writer->format->release)
        writer->format->release(writer->memory);
    free(writer->memory);
    free(writer);
}
