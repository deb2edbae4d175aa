// SPDX-License-Identifier: Apache-2.0
/** Contract cases of PluginLeftovers on a host where the plugins of upstream never ran. e2e/afxdp/upstream-leftovers.test.ts has the others. */
import assert from "node:assert/strict";
import { assertRefusedBy, linkOf, type ContractCase } from "./world.ts";

const id = "3f2b8a10-1111-4222-8333-0123456789ab";

export const pluginLeftoverCases: readonly ContractCase[] = [
  {
    name: "has nothing of the plugins of upstream, and removes nothing",
    async run({ host: { pluginLeftovers } }) {
      assert.deepEqual(await pluginLeftovers.listDevices(), []);
      for (const pool of ["fast", "../fast"])
        assert.deepEqual(await pluginLeftovers.listFiles(pool), { mounts: [], sockets: [] });
      await pluginLeftovers.removeDevice("eth0");
      await pluginLeftovers.removeMount(`/run/afxdp_dp/fast/${id}`);
      await pluginLeftovers.removeSocket(`/tmp/afxdp_dp/afxdp_fast/${id}.sock`);
      await pluginLeftovers.removeDirectories();
      await assertRefusedBy(pluginLeftovers.removeDevice("../eth0"), "EINVAL");
      await assertRefusedBy(pluginLeftovers.removeMount("/run/afxdp_dp"), "EINVAL");
      await assertRefusedBy(pluginLeftovers.removeSocket("/tmp/afxdp_dp"), "EINVAL");
    },
  },
  {
    name: "knows that no AF_XDP socket uses an interface without one",
    async run({ host, pfs: [pf] }) {
      const { name } = await linkOf(host, pf);
      assert.deepEqual(await host.pluginLeftovers.readUse(name), { programs: [], sockets: 0 });
      await host.pluginLeftovers.detachProgram(name, 1);
      await assertRefusedBy(host.pluginLeftovers.readUse("nosuch0"), "ENODEV");
      await assertRefusedBy(host.pluginLeftovers.detachProgram("nosuch0", 1), "ENODEV");
    },
  },
];
