/* One array of a .npz archive, which is a zip file: APPNOTE.TXT 6.3.9 (pkware.com/appnote), sections
 * 4.3 and 4.5.3. The directory at its end decides; what stands before an entry's bytes must agree. */
#include "inputs/tensor/internal.h"
#include <stdlib.h>
#include <string.h>

enum {
    END_LENGTH = 22,
    END64_LENGTH = 56,
    LOCATOR_LENGTH = 20,
    ENTRY_LENGTH = 46,
    LOCAL_LENGTH = 30,
    COMMENT_MOST = 0xffff,
    REST_MOST = 2 * 0xffff, /* a name and extra fields */
    STORED = 0,
    DEFLATED = 8,
};

typedef struct zip_directory {
    uint64_t place, size, count;
} zip_directory;

typedef struct zip_entry {
    uint64_t packed, unpacked, place; /* bytes; its own header in the file */
    unsigned flags, method;
    uLong checksum;
    size_t name_length;
    unsigned char *rest; /* name, then extra fields: room for REST_MOST bytes */
} zip_entry;

static uint64_t field(const unsigned char *record, size_t at, size_t size)
{
    return little_endian(record + at, size);
}

static bool damaged(const byte_source *source, const char *what, error *err)
{
    return fail(err, EXIT_CODE_USAGE, "%s: damaged or truncated archive: %s", source->path, what);
}

/* `count` bytes at a place of the file, where they are there. */
static bool take_at(byte_source *source, uint64_t place, void *to, size_t count, const char *what,
                    error *err)
{
    if (place > source->stored || count > source->stored - place)
        return damaged(source, what, err);
    source->left = count;
    return bytes_seek(source, place, err) && bytes_take(source, to, count, what, err);
}

/* Where the record that ends the archive has too little room for a number. */
static bool read_end64(byte_source *source, uint64_t end, zip_directory *directory, error *err)
{
    unsigned char locator[LOCATOR_LENGTH], record[END64_LENGTH];
    const char what[] = "expected its zip64 end of the directory";
    if (end < LOCATOR_LENGTH ||
        !take_at(source, end - LOCATOR_LENGTH, locator, sizeof locator, what, err))
        return damaged(source, what, err);
    if (memcmp(locator, "PK\6\7", 4) != 0 ||
        !take_at(source, field(locator, 8, 8), record, sizeof record, what, err) ||
        memcmp(record, "PK\6\6", 4) != 0)
        return damaged(source, what, err);
    *directory = (zip_directory){field(record, 48, 8), field(record, 40, 8), field(record, 32, 8)};
    return true;
}

/* The record that ends the archive is the last one whose comment reaches to the end of the file. */
static bool find_directory(byte_source *source, zip_directory *directory, error *err)
{
    size_t length = source->stored < END_LENGTH + COMMENT_MOST ? (size_t)source->stored
                                                               : END_LENGTH + COMMENT_MOST;
    uint64_t begin = source->stored - length, end = 0;
    unsigned char *tail = malloc(length + 1), *record = NULL;
    bool fine = tail || fail_memory(err, "the end of an archive");
    fine = fine && take_at(source, begin, tail, length, "expected its end", err);
    for (size_t at = length; fine && !record && at >= END_LENGTH; at--) {
        unsigned char *next = tail + at - END_LENGTH;
        if (memcmp(next, "PK\5\6", 4) == 0 && field(next, 20, 2) == length - at)
            record = next;
    }
    if (fine && !record)
        fine = damaged(source, "it does not end as a zip file does", err);
    if (fine) {
        end = begin + (uint64_t)(record - tail);
        *directory =
            (zip_directory){field(record, 16, 4), field(record, 12, 4), field(record, 10, 2)};
        if (directory->place == 0xffffffff || directory->size == 0xffffffff ||
            directory->count == 0xffff)
            fine = read_end64(source, end, directory, err);
    }
    free(tail);
    return fine && ((directory->place <= end && directory->size <= end - directory->place) ||
                    damaged(source, "its directory lies outside of the file", err));
}

/* Sizes and place of an entry that are too large for its record stand in an extra field, in turn. */
static bool read_extra64(const unsigned char *extra, size_t length, zip_entry *entry)
{
    uint64_t *const wide[] = {&entry->unpacked, &entry->packed, &entry->place};
    for (size_t at = 0; at + 4 <= length;) {
        size_t size = (size_t)field(extra, at + 2, 2), next = at + 4;
        if (size > length - next)
            return false;
        for (size_t i = 0; field(extra, at, 2) == 1 && i < 3; i++) {
            if (*wide[i] != 0xffffffff)
                continue;
            if (next + 8 > at + 4 + size)
                return false;
            *wide[i] = field(extra, next, 8);
            next += 8;
        }
        at += 4 + size;
    }
    return true;
}

/* The entry at *place of the directory, which moves to the next. */
static bool read_entry(byte_source *source, const zip_directory *directory, uint64_t *place,
                       zip_entry *entry, error *err)
{
    unsigned char record[ENTRY_LENGTH];
    const char what[] = "an entry of its directory is cut off";
    uint64_t end = directory->place + directory->size;
    if (end - *place < ENTRY_LENGTH)
        return damaged(source, what, err);
    if (!take_at(source, *place, record, sizeof record, what, err))
        return false;
    if (memcmp(record, "PK\1\2", 4) != 0)
        return damaged(source, "its directory has no entry where one was expected", err);
    size_t extra = (size_t)field(record, 30, 2);
    entry->name_length = (size_t)field(record, 28, 2);
    size_t length = ENTRY_LENGTH + entry->name_length + extra + (size_t)field(record, 32, 2);
    if (length > end - *place)
        return damaged(source, what, err);
    if (!take_at(source, *place + ENTRY_LENGTH, entry->rest, entry->name_length + extra, what, err))
        return false;
    entry->flags = (unsigned)field(record, 8, 2);
    entry->method = (unsigned)field(record, 10, 2);
    entry->checksum = (uLong)field(record, 16, 4);
    entry->packed = field(record, 20, 4);
    entry->unpacked = field(record, 24, 4);
    entry->place = field(record, 42, 4);
    *place += length;
    return read_extra64(entry->rest + entry->name_length, extra, entry) ||
           damaged(source, "an extra field of its directory is cut off", err);
}

/* Length of the name without .npy; 0: no array. */
static size_t array_name(const zip_entry *entry)
{
    size_t length = entry->name_length;
    return length > 4 && memcmp(entry->rest + length - 4, ".npy", 4) == 0 ? length - 4 : 0;
}

static bool is_named(const zip_entry *entry, const char *name)
{
    size_t length = array_name(entry), wanted = name ? strlen(name) : 0;
    return length > 0 && (!name || ((wanted == length || wanted == length + 4) &&
                                    memcmp(entry->rest, name, wanted) == 0));
}

/* Where its bytes begin, by its own header, which is read into `name`. */
static bool find_bytes(byte_source *source, const zip_directory *directory, const zip_entry *entry,
                       unsigned char *name, uint64_t *begin, error *err)
{
    unsigned char record[LOCAL_LENGTH];
    const char what[] = "the array's own header was expected where the directory says";
    if (entry->flags & 1)
        return fail(err, EXIT_CODE_USAGE, "%s: is encrypted: expected a plain archive",
                    source->path);
    if (entry->method != STORED && entry->method != DEFLATED)
        return fail(err, EXIT_CODE_USAGE,
                    "%s: packed by method %u: expected stored (0) or deflated (8), as "
                    "numpy.savez writes",
                    source->path, entry->method);
    if (!take_at(source, entry->place, record, sizeof record, what, err))
        return false;
    *begin = entry->place + LOCAL_LENGTH + field(record, 26, 2) + field(record, 28, 2);
    if (memcmp(record, "PK\3\4", 4) != 0 || field(record, 8, 2) != entry->method ||
        field(record, 26, 2) != entry->name_length ||
        !take_at(source, entry->place + LOCAL_LENGTH, name, entry->name_length, what, err) ||
        memcmp(name, entry->rest, entry->name_length) != 0)
        return damaged(source, what, err);
    if (*begin > directory->place || entry->packed > directory->place - *begin)
        return damaged(source, "the array reaches beyond the file's arrays", err);
    return entry->method == DEFLATED || entry->packed == entry->unpacked ||
           damaged(source, "two sizes for an array that is not packed", err);
}

/* Finds the one entry that is meant. */
static bool find_entry(byte_source *source, const zip_directory *directory, const char *name,
                       zip_entry *entry, zip_entry *found, error *err)
{
    uint64_t place = directory->place;
    name_list names = {{0}, 0};
    size_t matches = 0;
    for (uint64_t i = 0; i < directory->count; i++) {
        if (!read_entry(source, directory, &place, entry, err))
            return false;
        if (array_name(entry) > 0)
            name_list_add(&names, (const char *)entry->rest, array_name(entry));
        if (!is_named(entry, name) || matches++ > 0)
            continue;
        unsigned char *rest = found->rest;
        memcpy(rest, entry->rest, entry->name_length);
        *found = *entry;
        found->rest = rest;
    }
    if (matches > 1 && name)
        return fail(err, EXIT_CODE_USAGE, "%s: the archive has this name twice: expected it once",
                    source->path);
    return matches == 1 || fail_name(source->path, name, &names, err);
}

/* That no other entry begins between these two places. */
static bool stands_alone(byte_source *source, const zip_directory *directory, zip_entry *entry,
                         uint64_t begin, uint64_t end, error *err)
{
    uint64_t place = directory->place;
    size_t within = 0;
    for (uint64_t i = 0; i < directory->count; i++) {
        if (!read_entry(source, directory, &place, entry, err))
            return false;
        within += entry->place >= begin && entry->place < end;
    }
    return within == 1 || damaged(source, "another array overlaps this one", err);
}

bool npz_open(byte_source *source, const char *name, error *err)
{
    zip_directory directory = {0};
    uint64_t begin = 0;
    unsigned char *room = malloc(2 * (size_t)REST_MOST);
    zip_entry entry = {.rest = room}, found = {.rest = room + REST_MOST};
    bool fine = room || fail_memory(err, "the directory of an archive");
    fine = fine && find_directory(source, &directory, err) &&
           find_entry(source, &directory, name, &entry, &found, err) &&
           find_bytes(source, &directory, &found, room, &begin, err) &&
           stands_alone(source, &directory, &entry, found.place, begin + found.packed, err) &&
           bytes_seek(source, begin, err);
    free(room);
    if (!fine)
        return false;
    source->is_member = true;
    source->checksum = crc32(0, NULL, 0);
    source->expected_checksum = found.checksum;
    source->stored = found.packed;
    source->left = found.unpacked;
    return found.method == STORED || bytes_unpack(source, err);
}
