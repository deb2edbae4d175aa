// SPDX-License-Identifier: Apache-2.0
/**
 * readGrubEntries finds the boot entries of this system in the configuration that grub-mkconfig generates. Others do not get the
 * arguments of GRUB_CMDLINE_LINUX: those of memory tests (20_memtest86+), and those of other systems that os-prober finds.
 */
import type { BootEntry } from "../../ports/kernel.ts";
import { splitArguments } from "../system/kernel-names.ts";

/**
 * An entry of this system loads a kernel, and its root= is that of the running kernel. If no entry has this root=, for example
 * because a disk has another name now, all entries that load a kernel count.
 */
export function readGrubEntries(text: string, running: readonly string[]): readonly BootEntry[] {
  const entries: BootEntry[] = [];
  let title = "";
  for (const line of text.split("\n")) {
    title = titleIn(line) ?? title;
    const [, file = "", values = ""] = /^\s*linux(?:16|efi)?\s+(\S+)(.*)$/.exec(line) ?? [];
    if (isKernel(file)) entries.push({ title, arguments: splitArguments(values) });
  }
  const root = running.find((argument) => argument.startsWith("root="));
  const own = entries.filter((entry) => root !== undefined && entry.arguments.includes(root));
  return own.length > 0 ? own : entries;
}

/** Kernels are recognized as grub-mkconfig finds them: by name, in whatever directory, subvolume or device the file is. */
function isKernel(file: string): boolean {
  const name =
    file
      .replace(/^["'](.*)["']$/, "$1")
      .split("/")
      .at(-1) ?? "";
  return /^(?:vmlinu[xz]|kernel-)/.test(name);
}

/** A title in single quotes contains a single quote as '\''. */
function titleIn(line: string): string | undefined {
  const [, single, double] = /^\s*menuentry\s+(?:'((?:[^']|'\\'')*)'|"([^"]*)")/.exec(line) ?? [];
  return single?.replaceAll(String.raw`'\''`, "'") ?? double;
}
