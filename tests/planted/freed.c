/* Reads what was freed, which the address sanitizer must report: with an argument, in the library of planted faults. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t read_freed(void);

int main(int count, char **arguments)
{
    (void)arguments;
    if (count > 1)
        return read_freed() == 7;
    volatile char *text = malloc(8);
    if (!text)
        return 0;
    text[0] = 'a';
    free((void *)text);
    printf("%c\n", text[0]);
    return 0;
}
