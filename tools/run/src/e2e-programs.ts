// SPDX-License-Identifier: Apache-2.0
/**
 * The programs of this machine that the tests of each folder of e2e run, so that `npm run e2e` can install them before it starts.
 */
import { debianPackages, type ProgramName } from "@switchyard/testing";

/** What the tests of a folder need. */
interface FolderNeeds {
  readonly programs: readonly ProgramName[];
  /** Whether they start guests of the VM lab, which has its own list of packages. */
  readonly lab?: true;
}

const containerImages = ["buildah", "dpkg-deb", "tar", "x86_64-linux-gnu-strip"] as const;

/** Folders of e2e/jest.config.js. Images are for amd64 only but in the folder images. */
export const needsOfFolders: Readonly<Record<string, FolderNeeds>> = {
  vm: { programs: ["git", "tar"], lab: true },
  faults: { programs: ["git", "tar"] },
  fidelity: { programs: [] },
  dra: { programs: [] },
  quirks: { programs: [] },
  mutation: { programs: [] },
  fuzz: { programs: [] },
  security: { programs: [] },
  accidents: { programs: [] },
  monitoring: { programs: [] },
  versions: { programs: [] },
  "eve-bridge": { programs: ["ip", "nsenter", "unshare", "dnsmasq", "strace", "busybox"] },
  nri: { programs: ["ip"] },
  afxdp: {
    programs: [
      ...(["ip", "mount", "nsenter", "unshare", "setpriv", "mmdebstrap"] as const),
      ...(["clang", "make", "pkg-config", "gcc", "/usr/include/bpf/libbpf.h", "/usr/include/openssl/ssl.h"] as const),
    ],
    lab: true,
  },
  upgrade: { programs: ["openssl"] },
  migration: { programs: ["git", "tar"] },
  cluster: {
    programs: [...containerImages, "busybox", "ip", "mke2fs", "mmdebstrap", "mount", "setcap"],
    lab: true,
  },
  release: { programs: ["git", "tar"] },
  site: { programs: ["chromium"] },
  page: { programs: ["chromium"] },
  headlamp: { programs: ["chromium", "tar"] },
  guides: { programs: [] },
  macos: { programs: [] },
  images: { programs: [...containerImages, "aarch64-linux-gnu-strip", "busybox", "unshare"] },
  "ovn-offload": { programs: ["dpkg-deb"] },
};

/** Returns what these test files need together. `files` are paths with "/e2e/FOLDER/". */
export function needsOfTests(files: readonly string[]): {
  readonly programs: readonly ProgramName[];
  readonly lab: boolean;
} {
  const folders = new Set(files.flatMap((file) => /\/e2e\/([^/]+)\//.exec(file)?.[1] ?? []));
  const needs = [...folders].flatMap((folder) => needsOfFolders[folder] ?? []);
  return {
    programs: [...new Set(needs.flatMap(({ programs }) => programs))],
    lab: needs.some(({ lab }) => lab === true),
  };
}

/** Returns the programs of the table that a source starts by their name: `run("ip", …)`, `"/bin/busybox"`. */
export function programsIn(source: string): readonly ProgramName[] {
  const starts = /\b(?:run\w*|spawn\w*|execFile\w*|in\w*Host)\(\s*"([\w./-]+)"|"\/(?:usr\/)?s?bin\/([\w-]+)"/g;
  const names = [...source.matchAll(starts)].map(([, started, path]) => started ?? path ?? "");
  return [...new Set(names.filter((name) => isProgramName(name)))];
}

function isProgramName(name: string): name is ProgramName {
  return name in debianPackages;
}
