// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readGrubEntries } from "./grub-config.ts";

const running = ["BOOT_IMAGE=/boot/vmlinuz-6.1.0-27-amd64", "root=/dev/vda2", "ro", "quiet"];
const readCapture = (name: string) => readFile(join(__dirname, "../testdata", name), "utf8");
const titlesOf = (text: string, arguments_ = running) => readGrubEntries(text, arguments_).map(({ title }) => title);

/** An entry as 10_linux, 20_memtest86+ and 30_os-prober write it, without the lines that choose a device. */
const entry = (title: string, line: string) => `menuentry '${title}' --class os {\n\tinsmod gzio\n\t${line}\n}\n`;

describe("readGrubEntries", () => {
  it.each(["grub-bios.cfg", "grub-efi.cfg"])(
    "finds the entries of this system beside memtest86+ and a system on another disk (%s)",
    async (name) => {
      const entries = readGrubEntries(await readCapture(name), running);
      expect(entries.map(({ title }) => title)).toEqual([
        "Debian GNU/Linux",
        "Debian GNU/Linux, with Linux 6.1.0-27-amd64",
        "Debian GNU/Linux, with Linux 6.1.0-27-amd64 (recovery mode)",
        "Debian GNU/Linux, with Linux 6.1.0-25-amd64",
        "Debian GNU/Linux, with Linux 6.1.0-25-amd64 (recovery mode)",
      ]);
      for (const each of entries)
        expect(each.arguments).toEqual(expect.arrayContaining(["intel_iommu=on", "iommu=pt"]));
    },
  );

  it.each([
    { does: "a separate file system of /boot", file: "/vmlinuz-6.1.0" },
    { does: "a subvolume of btrfs", file: "/@/boot/vmlinuz-6.1.0" },
    { does: "another subvolume", file: "/root/boot/vmlinuz-6.1.0" },
    { does: "a dataset of ZFS", file: "/BOOT/ubuntu_1@/vmlinuz-6.1.0" },
    { does: "a variable with the device, as on Fedora", file: "($root)/vmlinuz-6.1.0" },
    { does: "a device", file: "(hd0,gpt2)/boot/vmlinuz-6.1.0" },
    { does: "a symbolic link", file: "/vmlinuz" },
    { does: "a signed kernel", file: "/boot/vmlinuz-6.1.0.efi.signed" },
    { does: "quotes", file: '"/boot/vmlinuz-6.1.0"' },
    { does: "another architecture", file: "/boot/vmlinux-6.1.0" },
    { does: "a kernel of the administrator", file: "/boot/kernel-6.1.0" },
  ])("recognizes a kernel in $does", ({ file }) => {
    for (const command of ["linux", "linux16", "linuxefi"])
      expect(readGrubEntries(entry("Debian", `${command}\t${file} root=/dev/vda2 ro`), running)).toEqual([
        { title: "Debian", arguments: ["root=/dev/vda2", "ro"] },
      ]);
  });

  it.each([
    { file: "/boot/memtest86+x64.bin" },
    { file: "/memtest86+x64.efi" },
    { file: "/boot/memtest86+.elf" },
    { file: "/boot/ipxe.lkrn" },
  ])("does not take $file for a kernel", ({ file }) => {
    expect(titlesOf(entry("Memory test", `linux16\t${file} console=ttyS0,115200`))).toEqual([]);
  });

  it("leaves out entries with another root=, and those without one", () => {
    const own = entry("Debian", "linux /boot/vmlinuz-6.1.0 root=UUID=1 ro");
    const others =
      entry("Ubuntu (on /dev/sdb1)", "linux /boot/vmlinuz-6.1.0 root=UUID=2 ro") +
      entry("Rescue system", "linux (loop)/live/vmlinuz boot=live");
    expect(titlesOf(own + others, ["root=UUID=1", "ro"])).toEqual(["Debian"]);
  });

  it("counts all kernels if none has the root= of the running kernel", () => {
    const text = entry("Debian", "linux /boot/vmlinuz-6.1.0 root=/dev/sdb2 ro");
    for (const arguments_ of [["root=/dev/sda2"], []]) expect(titlesOf(text, arguments_)).toEqual(["Debian"]);
  });

  it("finds none in a configuration whose entries are files of their own", () => {
    expect(titlesOf('set default_kernelopts="root=/dev/vda2 ro"\ninsmod blscfg\nblscfg\n')).toEqual([]);
  });

  it("reads titles with quotes of both kinds", () => {
    const linux = "linux /boot/vmlinuz root=/dev/vda2";
    expect(titlesOf(`menuentry 'Bob'\\''s Linux' {\n${linux}\n}\nmenuentry "Plain" {\n${linux}\n}\n`)).toEqual([
      "Bob's Linux",
      "Plain",
    ]);
  });
});
