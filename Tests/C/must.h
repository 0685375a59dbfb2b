/* Ends the program with the library's last error unless a call succeeded. */
#include <quire.h>

#include <stdio.h>
#include <stdlib.h>

static void must(quire_status status)
{
    if (status == QUIRE_OK) return;
    quire_error error = QUIRE_ERROR_INIT;
    quire_last_error(&error);
    fprintf(stderr, "%s: %s\n", quire_status_name(status), error.message);
    exit(1);
}
