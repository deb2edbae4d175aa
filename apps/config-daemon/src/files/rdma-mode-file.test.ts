// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createFakeKernel } from "@switchyard/host/testing";
import { readInitialRdmaMode, readPersistentRdmaMode, writePersistentRdmaMode } from "./rdma-mode-file.ts";

const path = "/etc/modprobe.d/sriov_network_operator_modules_config.conf";

function nodeWith(text?: string) {
  const kernel = createFakeKernel({ nics: [] });
  if (text !== undefined) kernel.writeFile(path, text);
  return { kernel, files: kernel.host().files };
}

describe("the file with the RDMA mode", () => {
  it("is written with its owner, changed, and removed", async () => {
    const { kernel, files } = nodeWith();
    expect(await readPersistentRdmaMode(files)).toBeUndefined();
    await writePersistentRdmaMode(files, "exclusive", undefined);
    expect(await files.readText(path)).toMatch(/^# Written by Switchyard .*\noptions ib_core netns_mode=0\n$/);
    expect(await readPersistentRdmaMode(files)).toBe("exclusive");
    expect(await readInitialRdmaMode(files)).toBeUndefined();
    await writePersistentRdmaMode(files, "shared", "exclusive");
    expect(await files.readText(path)).toMatch(/\noptions ib_core netns_mode=1\n$/);
    expect([await readPersistentRdmaMode(files), await readInitialRdmaMode(files)]).toEqual(["shared", "exclusive"]);
    await writePersistentRdmaMode(files, undefined, undefined);
    expect(kernel.listFiles()).toEqual([]);
  });

  it.each([
    { text: "options ib_core netns_mode=0\n", mode: "exclusive" },
    { text: "options ib_core netns_mode=1\n", mode: "shared" },
  ])("is adopted from the Go operator in $mode mode, and removed like an own file", async ({ text, mode }) => {
    const { kernel, files } = nodeWith(text);
    expect(await readPersistentRdmaMode(files)).toBe(mode);
    await writePersistentRdmaMode(files, undefined, undefined);
    expect(kernel.listFiles()).toEqual([]);
  });

  it.each([
    "options ib_core netns_mode=2\n",
    "options ib_core netns_mode=0\noptions ib_core send_queue_size=1\n",
    "# Written by the administrator.\noptions ib_core netns_mode=0\n",
    "# Written by Switchyard for you.\n# Initial mode: none\noptions ib_core netns_mode=0\n",
    "",
    "x".repeat(2 << 20),
  ])("is never changed or removed if it has other content: %.40j", async (text) => {
    const { kernel, files } = nodeWith(text);
    expect(await readPersistentRdmaMode(files)).toBe("foreign");
    for (const mode of ["shared", undefined] as const) {
      await expect(writePersistentRdmaMode(files, mode, undefined)).rejects.toMatchObject({ code: "EEXIST" });
    }
    expect(kernel.writes).toEqual([]);
  });

  it("is foreign if it is a link, whose target is not changed", async () => {
    const { kernel, files } = nodeWith();
    kernel.linkFile(path, "/etc/modprobe.d/mine.conf");
    expect(await readPersistentRdmaMode(files)).toBe("foreign");
    await expect(writePersistentRdmaMode(files, "shared", undefined)).rejects.toMatchObject({ code: "EEXIST" });
  });
});
