/* lnbench help: what --help shows, as text, man pages and shell completions. */
#include "command.h"
#include "help_formats.h"
#include "paths.h"
#include "text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COMMANDS = 64 };

typedef struct shell {
    const char *name;
    const char *file; /* below --out, where the shell looks for it */
    help_writer *writer;
    void (*begin)(const help_entry *entries, size_t count, FILE *file);
    void (*end)(FILE *file);
} shell;

static const shell shells[] = {
    {"bash", "bash-completion/completions/lnbench", help_bash, help_bash_begin, help_bash_end},
    {"zsh", "zsh/site-functions/_lnbench", help_zsh, help_zsh_begin, help_zsh_end},
    {"fish", "fish/vendor_completions.d/lnbench.fish", help_fish, help_fish_begin, NULL},
};
enum { SHELLS = sizeof shells / sizeof *shells };

static size_t fill_entries(help_entry entries[MOST_COMMANDS])
{
    size_t count = command_count < MOST_COMMANDS ? command_count : MOST_COMMANDS;
    for (size_t i = 0; i < count; i++)
        entries[i] = (help_entry){commands[i].name, commands[i].summary};
    return count;
}

/* Where options_help's writer sends its table, whatever file the command names. */
static struct {
    help_writer *writer;
    FILE *file;
} redirected;

static void write_redirected(const subcommand *subcommand, FILE *file)
{
    (void)file;
    redirected.writer(subcommand, redirected.file);
}

/* Has a subcommand hand its option table to the writer: it is asked for --help. */
static bool write_command(const command *command, help_writer *writer, FILE *file, error *error)
{
    char *arguments[] = {(char *)command->name, (char *)"--help", NULL};
    redirected.writer = writer;
    redirected.file = file;
    options_help_with(writer ? write_redirected : NULL);
    exit_code code = command->main(2, arguments, error);
    options_help_with(NULL);
    return code == EXIT_CODE_FINE;
}

static bool write_shell(const shell *shell, FILE *file, error *error)
{
    help_entry entries[MOST_COMMANDS] = {0};
    size_t count = fill_entries(entries);
    bool fine = true;
    shell->begin(entries, count, file);
    for (size_t i = 0; fine && i < command_count; i++)
        fine = write_command(&commands[i], shell->writer, file, error);
    if (shell->end)
        shell->end(file);
    return fine;
}

static bool close_file(FILE *file, const char *path, bool fine, error *error)
{
    bool written = !ferror(file);
    written = fclose(file) == 0 && written;
    return fine && (written || fail(error, EXIT_CODE_ENVIRONMENT, "%s: cannot be written", path));
}

static FILE *create_file(const char *directory, const char *name, char path[1024], error *error)
{
    snprintf(path, 1024, "%s/%s", directory, name);
    FILE *file = make_parent_directory(path, error) ? fopen(path, "w") : NULL;
    if (!file && error->code == EXIT_CODE_FINE)
        fail(error, EXIT_CODE_ENVIRONMENT, "%s: cannot be written: %s", path, strerror(errno));
    return file;
}

/* DIR/man/man1/lnbench*.1 and the completions, as `cmake --install` puts them below share/. */
static bool write_tree(const char *directory, error *error)
{
    help_entry entries[MOST_COMMANDS] = {0};
    char path[1024], name[128];
    FILE *file = create_file(directory, "man/man1/lnbench.1", path, error);
    if (!file)
        return false;
    size_t count = fill_entries(entries);
    help_man_main(entries, count, file);
    bool fine = close_file(file, path, true, error);
    for (size_t i = 0; fine && i < command_count; i++) {
        snprintf(name, sizeof name, "man/man1/lnbench-%s.1", commands[i].name);
        file = create_file(directory, name, path, error);
        fine = file &&
               close_file(file, path, write_command(&commands[i], help_man, file, error), error);
    }
    for (size_t i = 0; fine && i < SHELLS; i++) {
        file = create_file(directory, shells[i].file, path, error);
        fine = file && close_file(file, path, write_shell(&shells[i], file, error), error);
    }
    return fine;
}

static const command *find_command(const char *name, error *error)
{
    const char *names[MOST_COMMANDS];
    size_t count = 0;
    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
        if (count < MOST_COMMANDS)
            names[count++] = commands[i].name;
    }
    const char *nearest = nearest_word(name, names, count);
    fail(error, EXIT_CODE_USAGE, "no subcommand '%.60s'%s%s%s: see lnbench --help", name,
         nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
    return NULL;
}

static bool help_as(const char *format, const char *subject, error *error)
{
    help_entry entries[MOST_COMMANDS] = {0};
    size_t count = fill_entries(entries);
    const command *command = subject ? find_command(subject, error) : NULL;
    bool text = strcmp(format, "text") == 0, man = strcmp(format, "man") == 0;
    if (subject && !command)
        return false;
    for (size_t i = 0; i < SHELLS; i++)
        if (strcmp(format, shells[i].name) == 0)
            return write_shell(&shells[i], stdout, error);
    if (!text && !man)
        return fail(error, EXIT_CODE_USAGE,
                    "--format %.60s: text, man, bash, zsh or fish was expected", format);
    if (command)
        return write_command(command, man ? help_man : NULL, stdout, error);
    if (text)
        return fail(error, EXIT_CODE_USAGE, "help with what? lnbench help SUBCOMMAND");
    help_man_main(entries, count, stdout);
    return true;
}

exit_code command_help(int argc, char **argv, error *error)
{
    const char *format = "text", *out = NULL;
    const option options[] = {
        {"format", "text|man|bash|zsh|fish",
         "text or a man page of the subcommand; a shell's completion of all", OPTION_TEXT, &format},
        {"out", "DIR", "write all man pages and completions below DIR, as for share/", OPTION_TEXT,
         &out},
    };
    const subcommand subcommand = {
        "help",
        "[SUBCOMMAND] [OPTION...]",
        "Shows a subcommand's options, as text, man page or shell completion.",
        NULL,
        options,
        sizeof options / sizeof *options,
        1};
    word_list operands = {0};
    bool help;
    bool fine = options_parse(&subcommand, argc, argv, &operands, &help, error);
    if (fine && help)
        options_help(&subcommand, stdout);
    else if (fine && out)
        fine = write_tree(out, error);
    else if (fine)
        fine = help_as(format, operands.count ? operands.words[0] : NULL, error);
    word_list_free(&operands);
    return fine ? EXIT_CODE_FINE : error->code;
}
