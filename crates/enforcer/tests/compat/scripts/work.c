#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void *sum(void *start)
{
    long total = 0, from = (long)start;
    for (long n = from; n < from + 25; n++)
        total += n;
    return (void *)total;
}

int main(void)
{
    pthread_t threads[4];
    long total = 0;
    for (long i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, sum, (void *)(i * 25)))
            return 1;
    for (int i = 0; i < 4; i++) {
        void *part;
        pthread_join(threads[i], &part);
        total += (long)part;
    }
    void *library = dlopen("./libanswer.so", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*answer)(void) = (int (*)(void))dlsym(library, "answer");
    printf("threads %ld library %d\n", total, answer());
    return 0;
}
