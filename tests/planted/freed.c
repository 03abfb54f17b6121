/* Reads what was freed, which the address sanitizer must report. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    volatile char *text = malloc(8);
    if (!text)
        return 0;
    text[0] = 'a';
    free((void *)text);
    printf("%c\n", text[0]);
    return 0;
}
