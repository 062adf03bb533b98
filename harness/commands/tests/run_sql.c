/* run_sql DATABASE SQL: runs it and prints the first column of what it answers. For shell tests
 * that damage a database, or look behind the store. */
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

static int print_first(void *unused, int count, char **values, char **names)
{
    (void)unused;
    (void)names;
    if (count > 0)
        printf("%s\n", values[0] ? values[0] : "null");
    return 0;
}

int main(int argc, char **argv)
{
    sqlite3 *database = NULL;
    char *message = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: run_sql DATABASE SQL\n");
        return 2;
    }
    bool fine = sqlite3_open_v2(argv[1], &database, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                sqlite3_exec(database, argv[2], print_first, NULL, &message) == SQLITE_OK;
    if (!fine)
        fprintf(stderr, "%s: %s\n", argv[1], message ? message : sqlite3_errmsg(database));
    sqlite3_free(message);
    sqlite3_close(database);
    return fine ? 0 : 1;
}
