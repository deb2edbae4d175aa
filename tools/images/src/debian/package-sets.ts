// SPDX-License-Identifier: Apache-2.0
/**
 * The Debian packages in the images, and which of their files are left out. Maintainer scripts do not run, so only packages
 * that work without them are suitable. Dependencies are listed here, not computed: the tests in e2e/images show that the
 * programs start. `npm run images -- --update-base` writes versions and digests to packages.lock.json.
 */

/** A set becomes a layer. */
export type PackageSet = keyof typeof packageSets;

/** The release that packages are taken from. */
export const debianSuite = "trixie";

export const packageSets = {
  /** What Node needs: the C library, libstdc++ and libgcc. */
  base: {
    packages: ["base-files", "gcc-14-base", "libc6", "libgcc-s1", "libstdc++6"],
    /** Applets of busybox that get a name of their own. */
    applets: [],
  },
  /**
   * mstconfig and mstfwreset, the shell and the programs that mstfwreset calls, and chroot for the programs of the host.
   * Administrators and upstream's tests call bash, ip, wc and other common programs by `kubectl exec`.
   */
  "config-daemon": {
    packages: [
      "bash",
      "busybox",
      "libexpat1",
      "libffi8",
      "libgomp1",
      "libibmad5",
      "libibumad3",
      "libmuparser2v5",
      "libpython3.13-minimal",
      "libpython3.13-stdlib",
      "libsqlite3-0",
      "libssl3t64",
      "libtinfo6",
      "libzstd1",
      "mstflint",
      "python3-minimal",
      "python3.13-minimal",
      "zlib1g",
    ],
    applets: [
      ...[
        "awk",
        "basename",
        "cat",
        "chroot",
        "cut",
        "dirname",
        "echo",
        "env",
        "find",
        "grep",
        "head",
        "ip",
        "less",
        "ls",
      ],
      ...["lsmod", "pgrep", "ps", "readlink", "sed", "sh", "sort", "tail", "tr", "uname", "wc", "which", "xargs"],
    ],
  },
  /** Runs the CNI plugins of the host. */
  "dra-driver": { packages: ["busybox"], applets: ["chroot"] },
  /** The launcher that eve-bridge installs, and tries before it replaces the previous one, is a shell script. */
  "eve-bridge": { packages: ["busybox"], applets: ["sh"] },
} as const;

/**
 * Files that are not used: documentation (except the licences), translations, files of debuggers and package managers,
 * and development files. Also character sets of iconv, which Node does not use, programs for the installation of Python
 * modules, and the register tables of mstregdump.
 */
const leftOut: readonly RegExp[] = [
  /^usr\/share\/(?:base-files|bash-completion|bug|dict|gcc|gdb|info|lintian|locale|man|menu|misc|python3|pixmaps)\//,
  /^usr\/share\/applications\//,
  /^usr\/share\/doc\/.*\/(?!copyright$)[^/]+$/,
  /^usr\/lib\/[^/]+\/gconv\//,
  /^usr\/(?:games|include|src|share\/doc-base)\//,
  /^usr\/share\/mstflint\/[^/]+\.csv$/,
  /\.a$/,
  /^etc\/(?:default|dpkg|profile\.d|python3\.13|skel|update-motd\.d)\//,
  /^etc\/issue/,
  /^usr\/bin\/py3(?:clean|compile|versions)$/,
  /^usr\/lib\/python3\.13\/sitecustomize\.py$/,
  /^(?:boot|home)\//,
  /^var\/(?:backups|cache|lib\/misc|local|lock|log|run|spool)\//,
];

/** Changes with what isKept reports: part of the key of unpacked packages in the cache. */
export const filterKey = leftOut.map(String).join(" ");

/** Reports whether the image gets the file `path`, relative to the root directory. */
export function isKept(path: string): boolean {
  return !leftOut.some((pattern) => pattern.test(path));
}
