// SPDX-License-Identifier: Apache-2.0
/**
 * The three programs that configure kernel arguments: how their presence is recognized, how arguments are read and changed
 * (sriov-operator.md F.5, M-22, M-29).
 */
import { grubFile, type ArgumentChange, type BootEntry, type BootLoader } from "../../ports/kernel.ts";
import type { HostFiles } from "../../ports/host-files.ts";
import { readGrubEntries } from "./grub-config.ts";
import { splitArguments } from "../system/kernel-names.ts";

/** What the boot loaders need of the host. */
export interface BootLoaderTools {
  readonly files: HostFiles;
  /** Runs a program of the host and returns its standard output. */
  readonly run: (command: readonly [string, ...string[]]) => Promise<string>;
  /** Returns the arguments of the running kernel. */
  readonly readRunning: () => Promise<readonly string[]>;
}

export interface BootLoaderProgram {
  /** Returns the boot entries of this system. */
  read(tools: BootLoaderTools): Promise<readonly BootEntry[]>;
  change(tools: BootLoaderTools, change: ArgumentChange): Promise<void>;
}

/** Systems with an OSTree may also have grubby, which must not be used on them. */
export async function detectBootLoader(files: HostFiles): Promise<BootLoader | undefined> {
  const exists = async (...paths: readonly string[]) =>
    (await Promise.all(paths.map((path) => files.readKind(path)))).some((kind) => kind === "file" || kind === "link");
  if (await exists("/run/ostree-booted")) return (await exists("/usr/bin/rpm-ostree")) ? "rpm-ostree" : undefined;
  if (await exists("/usr/sbin/grubby", "/usr/bin/grubby", "/sbin/grubby")) return "grubby";
  if (await exists("/usr/sbin/update-grub", "/sbin/update-grub")) return "update-grub";
  return undefined;
}

export const bootLoaders: Readonly<Record<BootLoader, BootLoaderProgram>> = {
  grubby: {
    read: async ({ run }) => readGrubbyEntries(await run(["grubby", "--info=ALL"])),
    async change({ run }, { add, remove }) {
      const options = [
        ...(add.length > 0 ? [`--args=${add.join(" ")}`] : []),
        ...(remove.length > 0 ? [`--remove-args=${remove.join(" ")}`] : []),
      ];
      await run(["grubby", "--update-kernel=ALL", ...options]);
    },
  },
  "rpm-ostree": {
    read: async ({ run }) => [
      { title: "the next deployment", arguments: splitArguments(await run(["rpm-ostree", "kargs"])) },
    ],
    async change({ run }, { add, remove }) {
      const options = [
        ...add.map((argument) => `--append-if-missing=${argument}`),
        ...remove.map((argument) => `--delete-if-present=${argument}`),
      ];
      await run(["rpm-ostree", "kargs", ...options]);
    },
  },
  "update-grub": {
    read: async ({ files, readRunning }) =>
      readGrubEntries((await files.readText("/boot/grub/grub.cfg")) ?? "", await readRunning()),
    async change({ files, run }, { add, remove }) {
      const before = parseGrubFile(await files.readText(grubFile));
      const wanted = [...before, ...add.filter((argument) => !before.includes(argument))];
      const after = wanted.filter((argument) => !remove.includes(argument));
      if (after.length > 0) await files.writeText(grubFile, formatGrubFile(after));
      else await files.remove(grubFile);
      // Also if the file is the same: an earlier run may have failed.
      await run(["update-grub"]);
    },
  },
};

/** update-grub reads the file as a shell script. The arguments have been checked. */
function formatGrubFile(values: readonly string[]): string {
  return [
    "# Kernel arguments that the config daemon of Switchyard added; `config-daemon cleanup` removes them.",
    `GRUB_CMDLINE_LINUX="\${GRUB_CMDLINE_LINUX} ${values.join(" ")}"`,
    "",
  ].join("\n");
}

function parseGrubFile(text: string | undefined): readonly string[] {
  const [, values = ""] = /^GRUB_CMDLINE_LINUX="\$\{GRUB_CMDLINE_LINUX\} ([^"]*)"$/m.exec(text ?? "") ?? [];
  return splitArguments(values);
}

/** One block of lines for each entry, with title="Fedora Linux" and args="quiet intel_iommu=on". Other systems have no args. */
function readGrubbyEntries(text: string): readonly BootEntry[] {
  return text.split(/^(?=index=)/m).flatMap((block): readonly BootEntry[] => {
    const valueOf = (key: string) => new RegExp(`^${key}="?(.*?)"?$`, "m").exec(block)?.[1];
    const values = valueOf("args");
    const title = valueOf("title") ?? valueOf("kernel") ?? "";
    return values === undefined ? [] : [{ title, arguments: splitArguments(values) }];
  });
}
