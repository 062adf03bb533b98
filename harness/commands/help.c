/* lnbench help: what --help shows, as text, man pages and shell completions. */
#include "cli/command.h"
#include "cli/formats.h"
#include "base/files.h"
#include "base/paths.h"
#include <string.h>

static const struct {
    const char *name;
    const char *file; /* below --out, where the shell looks for it */
    completion_writer *write;
} shells[] = {
    {"bash", "bash-completion/completions/lnbench", bash_completion},
    {"zsh", "zsh/site-functions/_lnbench", zsh_completion},
    {"fish", "fish/vendor_completions.d/lnbench.fish", fish_completion},
};
enum { SHELLS = sizeof shells / sizeof *shells };

typedef struct help_options {
    const char *format, *out;
} help_options;

static bool begin_file(whole_file *file, const char *directory, const char *name, char path[1024],
                       error *err)
{
    snprintf(path, 1024, "%s/%s", directory, name);
    return make_parent_directory(path, err) && whole_file_begin(file, path, err);
}

/* DIR/man/man1/lnbench*.1 and the completions, as `cmake --install` puts them below share/. */
static bool write_tree(const char *directory, error *err)
{
    char path[1024], name[128];
    whole_file file;
    bool fine = begin_file(&file, directory, "man/man1/lnbench.1", path, err);
    if (fine) {
        man_main_page(commands, command_count, file.stream);
        fine = whole_file_end(&file, true, err);
    }
    for (size_t i = 0; fine && i < command_count; i++) {
        snprintf(name, sizeof name, "man/man1/lnbench-%s.1", commands[i]->name);
        if (!begin_file(&file, directory, name, path, err))
            return false;
        man_page(commands[i], file.stream);
        fine = whole_file_end(&file, true, err);
    }
    for (size_t i = 0; fine && i < SHELLS; i++) {
        if (!begin_file(&file, directory, shells[i].file, path, err))
            return false;
        shells[i].write(commands, command_count, file.stream);
        fine = whole_file_end(&file, true, err);
    }
    return fine;
}

static bool help_as(const char *format, const char *subject, error *err)
{
    const cli_command *command = subject ? command_find(subject, err) : NULL;
    bool text = strcmp(format, "text") == 0, man = strcmp(format, "man") == 0;
    if (subject && !command)
        return false;
    for (size_t i = 0; i < SHELLS; i++)
        if (strcmp(format, shells[i].name) == 0) {
            shells[i].write(commands, command_count, stdout);
            return true;
        }
    if (!text && !man)
        return fail(err, EXIT_CODE_USAGE,
                    "--format %.60s: text, man, bash, zsh or fish was expected", format);
    if (text && !command)
        return fail(err, EXIT_CODE_USAGE, "help with what? lnbench help SUBCOMMAND");
    if (!command)
        man_main_page(commands, command_count, stdout);
    else if (man)
        man_page(command, stdout);
    else
        command_print_help(command, stdout);
    return true;
}

static exit_code help(void *context, const cli_call *call, error *err)
{
    const help_options *options = context;
    if (options->out)
        write_tree(options->out, err);
    else
        help_as(options->format, call->operands->count ? call->operands->words[0] : NULL, err);
    return err->code;
}

static const cli_option options[] = {
    {"format", "text|man|bash|zsh|fish",
     "text or a man page of the subcommand; a shell's completion of all", OPTION_TEXT,
     offsetof(help_options, format)},
    {"out", "DIR", "write all man pages and completions below DIR, as for share/", OPTION_TEXT,
     offsetof(help_options, out)},
};

const cli_command command_help = {
    .name = "help",
    .brief = "a subcommand's options; man pages and shell completions",
    .usage = "[SUBCOMMAND] [OPTION...]",
    .summary = "Shows a subcommand's options, as text, man page or shell completion.",
    OPTIONS(options),
    .most_operands = 1,
    DEFAULTS(help_options, .format = "text"),
    .body = help,
};
