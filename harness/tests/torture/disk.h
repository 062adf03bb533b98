/* A disk with a cache: writes down what a traced command does to the files of one folder, and lays
 * out what a power loss at any moment may have left of it.
 *
 *     disk_record *disk = disk_open("/tmp/x/try", LIE_NONE); // what is there now is on the disk
 *     watch.leave = disk_note, watch.context = disk;         // trace_run()
 *     for (size_t point = 0; point <= disk->event_count; point++)
 *         disk_lose(disk, point, LOSE_SOME, seed, "after");
 *
 * The rules are POSIX's. fsync() and fdatasync() of a file bring its content to the disk, not its
 * name; fsync() of a folder brings its names. What was not synced may be there, each name and each
 * sector of a write for itself: reordered, torn, or lost. A rename is whole or not done. */
#ifndef LNBENCH_DISK_H
#define LNBENCH_DISK_H

#include "content.h"
#include "trace.h"

enum { NO_FILE = -1, FOLDER = -2 };

typedef enum event_kind {
    EVENT_WRITE,       /* `content` at `offset` of `file` */
    EVENT_SIZE,        /* `file` has the size `offset` */
    EVENT_NAME,        /* `name` is `file`, a folder or nothing; `old`, if any, is nothing now */
    EVENT_SYNC,        /* of `file` */
    EVENT_SYNC_FOLDER, /* of the names in `name` */
    EVENT_WORD,        /* on standard output */
} event_kind;

typedef struct disk_event {
    event_kind kind;
    int file;
    size_t offset;
    file_content content;
    char *name, *old;
    size_t synced; /* from which point on it is on the disk */
} disk_event;

typedef struct disk_name {
    char *name;
    int file;
} disk_name;

typedef struct disk_names {
    disk_name *list;
    size_t count;
} disk_names;

/* What a name stood for after a rename. */
typedef struct disk_version {
    char *name;
    file_content content;
} disk_version;

/* Syncs that count as not done: planted faults. */
typedef enum disk_lie { LIE_NONE, LIE_FILES, LIE_FOLDERS, LIE_DATABASES } disk_lie;

typedef struct disk_record {
    char *root;
    disk_lie lie;
    disk_event *events; /* crash points: before each of them, and after the last */
    size_t event_count;
    file_content *first, *now; /* of each file: at the beginning, as written so far */
    size_t file_count;
    disk_names first_names, names;
    disk_version *versions;
    size_t version_count;
    size_t first_word, last_word; /* points from which on it had written to standard output, and
                                     had written all; SIZE_MAX: it did not */
} disk_record;

disk_record *disk_open(const char *folder, disk_lie lie);
void disk_note(void *disk, const traced_call *call);
void disk_close(disk_record *disk);
/* What was noted as the n-th, for messages. */
const char *disk_event_text(const disk_record *disk, size_t n);
/* Whether the file of that name ever had this content as a whole: before the command, after a
 * rename, or at the end. */
bool disk_had_whole(const disk_record *disk, const char *name, const file_content *content);

typedef enum disk_loss {
    LOSE_UNSYNCED, /* all that was not synced */
    LOSE_CONTENT,  /* names are kept: file systems that write content late */
    LOSE_NAMES,    /* content is kept */
    LOSE_SOME,     /* by the seed: some or most, in order or not */
} disk_loss;

/* Lays out the folder `to`, which is emptied; returns a hash of what is in it. */
uint64_t disk_lose(const disk_record *disk, size_t point, disk_loss loss, uint64_t seed,
                   const char *to);

/* For disk.c and disk_lose.c. */
void disk_set_name(disk_names *names, const char *name, int file);

#endif
