/* The conventions that a request names, and so the operations. */
#include "base/allocate.h"
#include "base/text.h"
#include "domain/convention.h"
#include "plan/plan.h"
#include <stdio.h>
#include <string.h>

bool split_conventions(const word_list *given, word_list *conventions, error *err)
{
    for (size_t i = 0; i < given->count; i++) {
        word_list parts = {0};
        text_buffer current = {0};
        bool fine = word_list_split(&parts, given->words[i], err);
        for (size_t part = 0; fine && part < parts.count; part++) {
            const char *word = parts.words[part];
            size_t key = strcspn(word, "=");
            char wanted[80];
            snprintf(wanted, sizeof wanted, ",%.*s=", (int)(key < 70 ? key : 70), word);
            /* The list so far, with a comma before, so that a key is found whole. */
            bool joins = word[key] == '=' && current.length > 0 && strchr(current.bytes, '=') &&
                         !strstr(current.bytes, wanted);
            if (current.length > 0 && !joins) {
                word_list_add(conventions, current.bytes + 1);
                text_free(&current);
            }
            text_add(&current, ",");
            text_add(&current, word);
        }
        if (current.length > 0)
            word_list_add(conventions, current.bytes + 1);
        text_free(&current);
        word_list_free(&parts);
        if (!fine)
            return false;
    }
    return true;
}

bool plan_conventions(const plan_request *request, case_plan *plan, ln_convention **named,
                      size_t *count, error *err)
{
    word_list words = {0};
    unsigned kinds = 0;
    bool fine = operations_parse(request->operation, &plan->operations, err) &&
                split_conventions(&request->conventions, &words, err);
    *named = allocate_zeroed(words.count + 1, sizeof **named);
    *count = words.count;
    for (size_t i = 0; fine && i < words.count; i++) {
        fine = convention_parse(words.words[i], &(*named)[i], err);
        operation_kind kind = convention_operation(&(*named)[i]);
        kinds |= OPERATION_BIT(kind);
        if (fine && request->operation && !(plan->operations & OPERATION_BIT(kind)))
            fine =
                fail(err, EXIT_CODE_USAGE,
                     "--conventions %s is of %s: with --operation %s choose its own (lnbench list "
                     "conventions --operation %s), or say --operation all",
                     words.words[i], operation_name(kind), request->operation, request->operation);
    }
    if (!request->operation && kinds)
        plan->operations = kinds;
    word_list_free(&words);
    return fine;
}
