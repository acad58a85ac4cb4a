/* The least that a start with all layers can cost on a machine: what `skillsandbox exec` sets up around a command, done by a program
 * that decides, checks, observes and records nothing. What the command costs is to be compared with this, not with nothing.
 *
 * Seven namespaces, a root in memory with the given pieces of the system bound read-only, /proc, a small /dev, one writable file system in
 * memory for /tmp, the home and /dev/shm, pivot_root, no capability, Landlock over the same pieces, a filter of system calls, exec, wait.
 *
 * cc -O2 -o floor_start floor_start.c && ./floor_start [--write FOLDER] PIECE ... -- COMMAND [ARGUMENT ...]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of Linux 5.12 and 5.9; older headers lack them. Their numbers are the same on every architecture. */
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
/* Not <linux/mount.h>, which does not go together with <sys/mount.h> everywhere. */
struct attributes {
    uint64_t set, clear, propagation, user_namespace;
};
enum { READ_ONLY = 1, NO_SET_USER_ID = 2, NO_DEVICES = 4, NO_EXECUTION = 8, RECURSIVE = 0x8000 };

enum { MODE = 0755 };
static const unsigned long QUIET = MS_NOSUID | MS_NODEV;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void write_file(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
    if (file < 0 || write(file, text, strlen(text)) < 0) fail(path);
    close(file);
}

static void make_folder(const char *path) {
    if (mkdir(path, MODE) && errno != EEXIST) fail(path);
}

/* The folders above a path, which is relative to the new root. */
static void make_parents(const char *path) {
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        make_folder(folder);
        *slash = '/';
    }
}

static void set_attributes(const char *path, unsigned flags, uint64_t set) {
    struct attributes attributes = {.set = set};
    if (syscall(SYS_mount_setattr, AT_FDCWD, path, flags, &attributes, sizeof attributes)) fail(path);
}

/* A piece of the system at the same place below the new root. */
static void bind_piece(const char *from, uint64_t attributes) {
    const char *to = from + 1;
    struct stat found;
    if (stat(from, &found)) fail(from);
    make_parents(to);
    if (S_ISDIR(found.st_mode)) {
        make_folder(to);
    } else {
        int file = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
        if (file < 0) fail(to);
        close(file);
    }
    if (mount(from, to, NULL, MS_BIND | MS_REC, NULL)) fail(from);
    if (attributes) set_attributes(to, RECURSIVE, attributes);
}

/* The links of a merged /usr as they are, or the folders themselves. */
static void system_folder(const char *path) {
    char target[256];
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length > 0) {
        target[length] = 0;
        if (symlink(target, path + 1)) fail(path);
    } else if (access(path, F_OK) == 0) {
        bind_piece(path, READ_ONLY | NO_SET_USER_ID | NO_DEVICES);
    }
}

static void map_user(uid_t user, gid_t group) {
    char line[64];
    write_file("/proc/self/setgroups", "deny");
    snprintf(line, sizeof line, "1000 %u 1", user);
    write_file("/proc/self/uid_map", line);
    snprintf(line, sizeof line, "1000 %u 1", group);
    write_file("/proc/self/gid_map", line);
}

static void make_devices(void) {
    const char *devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};
    const char *links[][2] = {{"/proc/self/fd", "dev/fd"},
                              {"/proc/self/fd/0", "dev/stdin"},
                              {"/proc/self/fd/1", "dev/stdout"},
                              {"/proc/self/fd/2", "dev/stderr"},
                              {"pts/ptmx", "dev/ptmx"}};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) bind_piece(devices[i], NO_SET_USER_ID | NO_EXECUTION);
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (symlink(links[i][0], links[i][1])) fail(links[i][1]);
    make_folder("dev/pts");
    if (mount("devpts", "dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=600")) fail("devpts");
}

/* One file system in memory, seen at three places. */
static void make_writable(void) {
    const char *places[][2] = {{"run/tmp", "tmp"}, {"run/home", "home/skill"}, {"run/shm", "dev/shm"}};
    make_folder("run");
    if (mount("tmpfs", "run", "tmpfs", QUIET, "size=64m,mode=755")) fail("tmpfs");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        make_folder(places[i][0]);
        make_parents(places[i][1]);
        make_folder(places[i][1]);
        if (mount(places[i][0], places[i][1], NULL, MS_BIND, NULL)) fail(places[i][1]);
    }
}

static void make_etc(void) {
    make_folder("etc");
    write_file("etc/passwd", "skill:x:1000:1000::/home/skill:/bin/sh\n");
    write_file("etc/group", "skill:x:1000:\n");
    write_file("etc/hosts", "127.0.0.1 localhost\n");
    write_file("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n");
    write_file("etc/resolv.conf", "nameserver 127.0.0.1\n");
}

static void make_root(char **pieces, const char *writable) {
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) fail("private mounts");
    /* Over a folder that every system has; what is to be written may lie below it, so it is held before. */
    int held = writable ? open(writable, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (writable && held < 0) fail(writable);
    if (mount("tmpfs", "/tmp", "tmpfs", QUIET, "size=1m,mode=755") || chdir("/tmp")) fail("tmpfs");
    bind_piece("/usr", READ_ONLY | NO_SET_USER_ID | NO_DEVICES);
    const char *folders[] = {"/bin", "/sbin", "/lib", "/lib64"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) system_folder(folders[i]);
    make_etc();
    for (char **piece = pieces; *piece; piece++) bind_piece(*piece, READ_ONLY | NO_SET_USER_ID | NO_DEVICES);
    make_devices();
    make_writable();
    if (writable) {
        char from[64];
        snprintf(from, sizeof from, "/proc/self/fd/%d", held);
        make_parents(writable + 1);
        make_folder(writable + 1);
        if (mount(from, writable + 1, NULL, MS_BIND, NULL)) fail(writable);
        set_attributes(writable + 1, 0, NO_SET_USER_ID | NO_DEVICES);
    }
    make_folder("proc");
    if (mount("proc", "proc", "proc", QUIET | MS_NOEXEC, NULL)) fail("proc");
    if (syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/")) fail("pivot_root");
    set_attributes("/", 0, READ_ONLY | NO_SET_USER_ID | NO_DEVICES);
}

static void drop_capabilities(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    for (unsigned long capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; capability++) {}
    if (syscall(SYS_capset, &header, none)) fail("capset");
}

static void allow(int rules, const char *path, uint64_t access, uint64_t of_files) {
    struct stat found;
    struct landlock_path_beneath_attr rule = {.parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent_fd < 0) return;
    if (fstat(rule.parent_fd, &found)) fail(path);
    rule.allowed_access = S_ISDIR(found.st_mode) ? access : access & of_files;
    if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0)) fail(path);
    close(rule.parent_fd);
}

static void landlock(char **pieces, const char *writable) {
    const uint64_t all = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1; /* of the first version, which every kernel with it has */
    const uint64_t read = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    const uint64_t of_files = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
    struct landlock_ruleset_attr handled = {.handled_access_fs = all};
    int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled.handled_access_fs, 0);
    if (rules < 0) fail("landlock");
    const char *readable[] = {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc"};
    const char *changeable[] = {"/tmp", "/home/skill", "/dev"};
    for (size_t i = 0; i < sizeof readable / sizeof *readable; i++) allow(rules, readable[i], read, of_files);
    for (char **piece = pieces; *piece; piece++) allow(rules, *piece, read, of_files);
    for (size_t i = 0; i < sizeof changeable / sizeof *changeable; i++) allow(rules, changeable[i], all, of_files);
    if (writable) allow(rules, writable, all, of_files);
    if (syscall(SYS_landlock_restrict_self, rules, 0)) fail("landlock_restrict_self");
    close(rules);
}

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "write the number of this architecture here"
#endif
#define REFUSE(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

static void filter_calls(void) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(mount), REFUSE(umount2), REFUSE(pivot_root), REFUSE(unshare), REFUSE(setns), REFUSE(ptrace),
        REFUSE(process_vm_readv), REFUSE(process_vm_writev), REFUSE(bpf), REFUSE(perf_event_open), REFUSE(userfaultfd),
        REFUSE(add_key), REFUSE(request_key), REFUSE(keyctl), REFUSE(kexec_load), REFUSE(init_module),
        REFUSE(finit_module), REFUSE(delete_module), REFUSE(swapon), REFUSE(reboot), REFUSE(personality),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)) fail("seccomp");
}

int main(int count, char **words) {
    char *environment[] = {"PATH=/usr/bin:/bin", "HOME=/home/skill", "LANG=C.UTF-8", "TMPDIR=/tmp", NULL};
    char **pieces = words + 1;
    const char *writable = NULL;
    if (count > 2 && strcmp(words[1], "--write") == 0) {
        writable = words[2];
        pieces = words + 3;
    }
    char **command = pieces;
    while (*command && strcmp(*command, "--") != 0) command++;
    if (!*command || !command[1]) {
        fprintf(stderr, "floor_start [--write FOLDER] PIECE ... -- COMMAND [ARGUMENT ...]\n");
        return 2;
    }
    *command++ = NULL;
    uid_t user = geteuid();
    gid_t group = getegid();
    long namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET | CLONE_NEWCGROUP;
    pid_t child = (pid_t)syscall(SYS_clone, namespaces | SIGCHLD, 0, 0, 0, 0);
    if (child < 0) fail("clone");
    if (child == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)) fail("pdeathsig");
        map_user(user, group);
        make_root(pieces, writable);
        if (sethostname("sandbox", 7)) fail("sethostname");
        setsid();
        drop_capabilities();
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) fail("no_new_privs");
        landlock(pieces, writable);
        filter_calls();
        syscall(SYS_close_range, 3U, ~0U, 0U);
        execve(command[0], command, environment);
        fail(command[0]);
    }
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) fail("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
