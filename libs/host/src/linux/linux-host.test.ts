// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLinuxHost } from "./linux-host.ts";
import { pci } from "../testing/nic-models.ts";

describe("createLinuxHost", () => {
  it("shows the interfaces of this machine and the files below its root", async () => {
    const root = await mkdtemp(join(tmpdir(), "host-"));
    const pf = pci("0000:01:00.0");
    await using host = createLinuxHost(root, { onUnreadableRecord: () => undefined });
    expect((await host.links.listLinks()).map(({ name }) => name)).toContain("lo");
    expect(await host.devlink.readEswitchMode(pf)).toBeUndefined();
    expect(await host.sriov.readPf(pf)).toBeUndefined();
    await host.records.save(pf, { spec: { pciAddress: pf } });
    expect([...(await host.records.list()).keys()]).toEqual([pf]);
    await rm(root, { recursive: true });
  });
});
