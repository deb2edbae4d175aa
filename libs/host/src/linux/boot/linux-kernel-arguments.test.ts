// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { HostFiles } from "../../ports/host-files.ts";
import { grubFile } from "../../ports/kernel.ts";
import { bootLoaders, detectBootLoader, type BootLoaderTools } from "./boot-loaders.ts";
import { createLinuxHostFiles } from "../system/linux-host-files.ts";
import { createLinuxKernelArguments } from "./linux-kernel-arguments.ts";

let root: string;
let files: HostFiles;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "arguments-"));
  files = createLinuxHostFiles(root);
});

afterEach(() => rm(root, { recursive: true }));

async function put(path: string, text = ""): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

/** Records commands, and answers with `output`. */
function tools(output = ""): BootLoaderTools & { readonly commands: string[] } {
  const commands: string[] = [];
  return {
    files,
    commands,
    readRunning: () => Promise.resolve(["BOOT_IMAGE=/vmlinuz", "root=/dev/a", "ro"]),
    run(command) {
      commands.push(command.join(" "));
      return Promise.resolve(output);
    },
  };
}

describe("createLinuxKernelArguments", () => {
  it("reads the arguments of the running kernel, the vendor of the CPUs and the IOMMU", async () => {
    await put("proc/cmdline", "BOOT_IMAGE=/vmlinuz root=UUID=1 ro intel_iommu=on\n");
    await put("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n");
    const port = createLinuxKernelArguments(root);
    expect(await port.readRunning()).toEqual(["BOOT_IMAGE=/vmlinuz", "root=UUID=1", "ro", "intel_iommu=on"]);
    expect(await port.readMachine()).toEqual({ cpuVendor: "intel", iommu: false });
    await put("sys/class/iommu/dmar0");
    expect(await port.readMachine()).toEqual({ cpuVendor: "intel", iommu: true });
  });

  it.each(["a b", "a=$(reboot)", 'a="', "a=`x`", "--help", "", "a=1\nb", "A;b"])(
    "refuses the argument %j",
    async (text) => {
      await put("usr/sbin/update-grub");
      const change = createLinuxKernelArguments(root).setNext({ add: [text], remove: [] });
      await expect(change).rejects.toMatchObject({ name: "HostError", code: "EINVAL" });
    },
  );

  it.each([
    {
      says: "the module",
      files: { "sys/module/vfio/parameters/enable_unsafe_noiommu_mode": "Y\n" },
      noIommuMode: true,
    },
    {
      says: "the module, not a file,",
      files: {
        "sys/module/vfio/parameters/enable_unsafe_noiommu_mode": "N\n",
        "etc/modprobe.d/vfio.conf": "options vfio enable_unsafe_noiommu_mode=1\n",
      },
    },
    {
      says: "modprobe.d while the module is not loaded",
      files: { "etc/modprobe.d/vfio.conf": "# test\noptions vfio enable_unsafe_noiommu_mode=1\n" },
      noIommuMode: true,
    },
    {
      says: "the command line",
      files: { "proc/cmdline": "ro vfio.enable_unsafe_noiommu_mode=1\n" },
      noIommuMode: true,
    },
    { says: "nothing", files: {} },
  ])("reads from the host whether vfio needs no IOMMU: $says", async ({ files: given, noIommuMode }) => {
    const all: Readonly<Record<string, string>> = {
      "proc/cmdline": "ro\n",
      "proc/cpuinfo": "vendor_id : GenuineIntel\n",
      ...given,
    };
    for (const [path, text] of Object.entries(all)) await put(path, text);
    const machine = await createLinuxKernelArguments(root).readMachine();
    expect(machine).toEqual({ cpuVendor: "intel", iommu: false, ...(noIommuMode && { noIommuMode }) });
  });

  it("reports a node without a known boot loader", async () => {
    await expect(createLinuxKernelArguments(root).readNext()).rejects.toMatchObject({ code: "EOPNOTSUPP" });
  });
});

describe("detectBootLoader", () => {
  it.each([
    { host: [], loader: undefined },
    { host: ["/usr/sbin/update-grub"], loader: "update-grub" },
    { host: ["/usr/sbin/update-grub", "/usr/sbin/grubby"], loader: "grubby" },
    { host: ["/usr/sbin/grubby", "/usr/bin/rpm-ostree", "/run/ostree-booted"], loader: "rpm-ostree" },
    { host: ["/usr/sbin/grubby", "/run/ostree-booted"], loader: undefined },
  ])("finds $loader on a host with $host", async ({ host, loader }) => {
    for (const path of host) await put(path);
    expect(await detectBootLoader(files)).toBe(loader);
  });
});

describe("grubby", () => {
  it("changes all kernels in one call, and reads the arguments of each", async () => {
    const blocks = [
      'index=0\nkernel="/boot/vmlinuz-6"\nargs="ro quiet iommu=pt"\nroot="/dev/a"\ntitle="Fedora Linux (6)"\nid="x-6"\n',
      'index=1\nkernel="/boot/vmlinuz-0-rescue"\nargs="ro iommu=pt rescue"\nroot="/dev/a"\n',
      "index=2\nnon linux entry\n",
    ];
    expect(await bootLoaders.grubby.read(tools(blocks.join("")))).toEqual([
      { title: "Fedora Linux (6)", arguments: ["ro", "quiet", "iommu=pt"] },
      { title: "/boot/vmlinuz-0-rescue", arguments: ["ro", "iommu=pt", "rescue"] },
    ]);
    const host = tools();
    await bootLoaders.grubby.change(host, { add: ["intel_iommu=on", "iommu=pt"], remove: ["pci=realloc"] });
    expect(host.commands).toEqual([
      "grubby --update-kernel=ALL --args=intel_iommu=on iommu=pt --remove-args=pci=realloc",
    ]);
  });
});

describe("rpm-ostree", () => {
  it("changes the next deployment in one call", async () => {
    expect(await bootLoaders["rpm-ostree"].read(tools("ro ignition.platform.id=qemu\n"))).toEqual([
      { title: "the next deployment", arguments: ["ro", "ignition.platform.id=qemu"] },
    ]);
    const host = tools();
    await bootLoaders["rpm-ostree"].change(host, { add: ["iommu=pt"], remove: ["pci=realloc"] });
    expect(host.commands).toEqual(["rpm-ostree kargs --append-if-missing=iommu=pt --delete-if-present=pci=realloc"]);
  });
});

describe("update-grub", () => {
  const program = bootLoaders["update-grub"];

  it("adds to the arguments of the administrator in a file of its own, and removes the file with its last argument", async () => {
    const host = tools();
    await program.change(host, { add: ["intel_iommu=on"], remove: [] });
    await program.change(host, { add: ["iommu=pt", "intel_iommu=on"], remove: [] });
    expect(await files.readText(grubFile)).toContain(
      '\nGRUB_CMDLINE_LINUX="${GRUB_CMDLINE_LINUX} intel_iommu=on iommu=pt"\n',
    );
    await program.change(host, { add: [], remove: ["intel_iommu=on", "iommu=pt"] });
    expect(await files.readKind(grubFile)).toBeUndefined();
    expect(host.commands).toEqual(["update-grub", "update-grub", "update-grub"]);
  });

  it("reads the entries of this system in the generated configuration", async () => {
    const entry = (line: string) => `menuentry 'Debian' {\n\tlinux\t${line}\n\tinitrd /initrd\n}\n`;
    const texts = ["/vmlinuz root=/dev/a ro iommu=pt", "/vmlinuz root=/dev/b ro", "/boot/memtest86+x64.bin"];
    await put("boot/grub/grub.cfg", texts.map(entry).join(""));
    expect(await program.read(tools())).toEqual([{ title: "Debian", arguments: ["root=/dev/a", "ro", "iommu=pt"] }]);
    expect(await program.read({ ...tools(), files: createLinuxHostFiles(join(root, "empty")) })).toEqual([]);
  });
});
