// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mstflintStandIn } from "../../testing/mstflint-stand-in.ts";
import { pci } from "../../testing/nic-models.ts";
import { createLinuxFirmware } from "./linux-firmware.ts";

const pf = pci("0000:3b:00.0");

let root: string;
let programs: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "firmware-"));
  programs = join(root, "programs");
  await mkdir(programs);
  for (const name of ["mstconfig", "mstfwreset", "mstprivhost"]) {
    await writeFile(join(programs, name), mstflintStandIn(root), { mode: 0o755 });
  }
  await writeFile(join(root, "settings-0000:3b:00"), "NUM_OF_VFS 0 8 8\nSRIOV_EN 0 1 1\nLINK_TYPE_P1 1 2 2\n");
});

afterEach(() => rm(root, { recursive: true }));

function firmware(options: { readonly configTimeoutMs?: number } = {}) {
  return createLinuxFirmware({ root, programPath: `${programs}:/usr/bin:/bin`, ...options });
}

describe("createLinuxFirmware", () => {
  it("reads, changes and resets the settings of a card", async () => {
    await firmware().setValues(pf, { NUM_OF_VFS: 32, LINK_TYPE_P1: 1 });
    const changed = await firmware().readSettings(pf);
    expect(changed.get("NUM_OF_VFS")).toEqual({ default: 0, current: 8, next: 32 });
    expect(changed.get("LINK_TYPE_P1")).toEqual({ default: 1, current: 2, next: 1 });
    await firmware().resetCard(pf);
    expect((await firmware().readSettings(pf)).get("NUM_OF_VFS")).toEqual({ default: 0, current: 32, next: 32 });
    expect(await readFile(join(root, "calls"), "utf8")).toBe(
      [
        "mstconfig -d 0000:3b:00.0 -y set NUM_OF_VFS=32 LINK_TYPE_P1=1",
        "mstconfig -e -d 0000:3b:00.0 q",
        "mstfwreset -d 0000:3b:00.0 --skip_driver -l 3 -y reset",
        "mstconfig -e -d 0000:3b:00.0 q",
        "",
      ].join("\n"),
    );
  });

  it("changes the mode of one port of a SmartNIC, which a reset does not put into effect", async () => {
    const settings = "INTERNAL_CPU_MODEL 1 0 0\nINTERNAL_CPU_PAGE_SUPPLIER 0 0 0\nINTERNAL_CPU_OFFLOAD_ENGINE 0 0 0\n";
    await writeFile(join(root, "settings-0000:3b:00.0"), settings);
    await writeFile(join(root, "settings-0000:3b:00.1"), settings);
    expect([...(await firmware().readSettings(pf)).keys()]).toEqual(["INTERNAL_CPU_MODEL"]);
    await expect(firmware().setValues(pf, { INTERNAL_CPU_OFFLOAD_ENGINE: 0 })).rejects.toMatchObject({
      words: "mstconfig: -E- The Device doesn't support INTERNAL_CPU_OFFLOAD_ENGINE parameter",
    });
    await firmware().setValues(pf, { INTERNAL_CPU_MODEL: 1 });
    await firmware().resetCard(pf);
    const changed = await firmware().readSettings(pf);
    expect(changed.get("INTERNAL_CPU_MODEL")).toEqual({ default: 1, current: 0, next: 1 });
    expect(changed.get("INTERNAL_CPU_OFFLOAD_ENGINE")).toEqual({ default: 0, current: 0, next: 0 });
    const other = await firmware().readSettings(pci("0000:3b:00.1"));
    expect(other.get("INTERNAL_CPU_MODEL")).toEqual({ default: 1, current: 0, next: 0 });
  });

  it("tells whether the host may change the card", async () => {
    expect(await firmware().readPrivilege(pf)).toBe("privileged");
    await writeFile(join(root, "level-0000:3b:00"), "RESTRICTED\n");
    expect(await firmware().readPrivilege(pf)).toBe("restricted");
    await expect(firmware().setValues(pf, { NUM_OF_VFS: 4 })).rejects.toMatchObject({ code: "FIRMWARE_TOOL_FAILED" });
  });

  it("gives mstprivhost 4.20 to 4.25 the programs that it calls by other names (smartnic.md 7.5)", async () => {
    const script = `#!/bin/sh
for program in mlxconfig mlxreg mcra; do
  $program >/dev/null 2>&1 || { echo "-E- Unknown device '$2'!"; exit 1; }
done
printf 'Current device configurations:\\n%-30s: %s\\n' level RESTRICTED
`;
    await writeFile(join(programs, "mstprivhost"), script);
    await expect(firmware().readPrivilege(pf)).rejects.toMatchObject({
      words: "mstprivhost: -E- Unknown device '0000:3b:00.0'!",
    });
    for (const name of ["mstconfig", "mstreg", "mstmcra"]) {
      await writeFile(join(programs, name), "#!/bin/sh\n", { mode: 0o755 });
    }
    expect(await firmware().readPrivilege(pf)).toBe("restricted");
  });

  it("refuses a level that it does not know", async () => {
    await writeFile(join(root, "level-0000:3b:00"), "ISOLATED\n");
    await expect(firmware().readPrivilege(pf)).rejects.toMatchObject({
      code: "EBADMSG",
      words: "mstprivhost printed no level",
    });
  });

  it("reports what mstconfig writes to its standard output when it fails", async () => {
    await expect(firmware().setValues(pf, { LINK_TYPE_P2: 1 })).rejects.toMatchObject({
      name: "HostError",
      code: "FIRMWARE_TOOL_FAILED",
      message:
        "set firmware settings LINK_TYPE_P2=1 on 0000:3b:00.0: FIRMWARE_TOOL_FAILED " +
        "(mstconfig: -E- The Device doesn't support LINK_TYPE_P2 parameter)",
    });
    await expect(firmware().readSettings(pci("0000:5e:00.0"))).rejects.toMatchObject({
      words: "mstconfig: -E- Failed to open the device",
    });
  });

  it("does not wait for a program that hangs", async () => {
    await writeFile(join(root, "mode"), "hang");
    await expect(firmware({ configTimeoutMs: 200 }).readSettings(pf)).rejects.toMatchObject({
      code: "ETIMEDOUT",
      words: "mstconfig did not end within 0.2 s",
    });
  });

  it("refuses output that it does not understand", async () => {
    await writeFile(join(root, "mode"), "garbage");
    await expect(firmware().readSettings(pf)).rejects.toMatchObject({ code: "EBADMSG" });
  });

  it("reports programs that are not installed", async () => {
    const without = createLinuxFirmware({ root, programPath: root });
    await expect(without.readSettings(pf)).rejects.toMatchObject({
      code: "ENOENT",
      words: "mstconfig is not installed",
    });
    await expect(without.resetCard(pf)).rejects.toMatchObject({ code: "ENOENT", words: "mstfwreset is not installed" });
  });

  it.each([-1, 1.5, 65_536, Number.NaN])("runs no program for the value %d", async (value) => {
    await expect(firmware().setValues(pf, { NUM_OF_VFS: value })).rejects.toMatchObject({ code: "EINVAL" });
    await expect(readFile(join(root, "calls"), "utf8")).rejects.toMatchObject({ code: "ENOENT" });
  });

  it.each([
    { text: "[none] integrity confidentiality\n", mode: "none" },
    { text: "none [integrity] confidentiality\n", mode: "integrity" },
    { text: "none integrity [confidentiality]\n", mode: "confidentiality" },
  ])("reads the lockdown mode $mode", async ({ text, mode }) => {
    await mkdir(join(root, "sys/kernel/security"), { recursive: true });
    await writeFile(join(root, "sys/kernel/security/lockdown"), text);
    expect(await firmware().readLockdown()).toBe(mode);
  });

  it("finds no lockdown mode on a kernel without lockdown", async () => {
    expect(await firmware().readLockdown()).toBeUndefined();
  });
});
