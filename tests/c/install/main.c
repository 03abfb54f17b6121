/* A program that was built against an installed library; an argument is the version that it must have. */
#include <stdio.h>
#include <string.h>
#include <trunkline.h>

#ifdef BESIDE
/* Of another library of Rust. */
int other_library(void);
#else
#define other_library() 7
#endif

int main(int argc, char **argv)
{
    trunkline_pool *pool = NULL;
    trunkline_str none = {NULL, 0};
    if (argc > 1 && strcmp(argv[1], trunkline_version()) != 0)
        return fprintf(stderr, "version %s, not %s\n", trunkline_version(), argv[1]), 1;
    if (trunkline_abi_version() < TRUNKLINE_ABI_VERSION || trunkline_pool_new(none, &pool, NULL) != TRUNKLINE_STATUS_OK)
        return 1;
    trunkline_pool_free(pool);
    return other_library() == 7 ? 0 : 1;
}
