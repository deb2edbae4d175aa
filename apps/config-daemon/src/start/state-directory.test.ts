// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createFakeKernel } from "@switchyard/host/testing";
import { noteStateDirectory, readStateDirectory, stateDirectoryKind } from "./state-directory.ts";

describe("the state directory", () => {
  it("of the daemon is found by a later cleanup, until the daemon has the default one again", async () => {
    const { files } = createFakeKernel({ nics: [] }).host();
    expect(await readStateDirectory(files)).toBeUndefined();
    await noteStateDirectory(files, "/var/lib/sriov-operator");
    expect(await readStateDirectory(files)).toBe("/var/lib/sriov-operator");
    await noteStateDirectory(files, "/etc/sriov-operator");
    expect(await readStateDirectory(files)).toBeUndefined();
  });

  it.each(["", "/", "/var", "var/lib/x", "/var/../x", "/var/lib/x/"])("cannot be %j", (text) => {
    expect(stateDirectoryKind.parse(text)).toBeUndefined();
  });
});
