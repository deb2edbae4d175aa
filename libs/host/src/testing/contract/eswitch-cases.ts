// SPDX-License-Identifier: Apache-2.0
/** Contract cases of embedded switches, features of interfaces, and udev rules. With igbsw of the VM lab, PFs have a switch. */
import assert from "node:assert/strict";
import type { PciAddress } from "@switchyard/api";
import type { Host } from "../../ports/host.ts";
import {
  assertRefused,
  eventually,
  linkOf,
  linksOf,
  makeVf,
  makeVfs,
  readVfs,
  settle,
  type ContractCase,
} from "./world.ts";

const ruleFile = "/etc/udev/rules.d/09-host-contract.rules";

/** Returns the port names of the interfaces below the PF that are not its own, sorted. */
async function portsBelow(host: Host, pf: PciAddress): Promise<readonly (string | undefined)[]> {
  const others = (await linksOf(host, pf)).filter(({ physPortName }) => physPortName !== "p0");
  return others.map(({ physPortName }) => physPortName).sort();
}

export const eswitchCases: readonly ContractCase[] = [
  {
    name: "changes the mode of an eswitch; the representors of all VFs come and go with it",
    async run({ host, pfs: [pf], hasEswitch }) {
      if (!hasEswitch) return assertRefused(host.devlink.setEswitchMode(pf, "switchdev"), "ENODEV");
      const vfs = await makeVfs(host, pf, 2);
      for (const { pciAddress } of vfs) await host.sriov.unbindDriver(pciAddress);
      await host.devlink.setEswitchMode(pf, "switchdev");
      await host.devlink.setEswitchMode(pf, "switchdev"); // no change, no error
      assert.equal(await host.devlink.readEswitchMode(pf), "switchdev");
      await settle(host);
      await eventually(
        () => portsBelow(host, pf),
        (ports) => {
          assert.deepEqual(ports, ["pf0vf0", "pf0vf1"]);
        },
      );
      const links = await linksOf(host, pf);
      assert.deepEqual(new Set(links.map(({ physSwitchId }) => physSwitchId)).size, 1);
      for (const { vfs: ofLink, physPortName } of links) assert.equal(ofLink.length, physPortName === "p0" ? 2 : 0);
      assert.equal((await readVfs(host, pf)).length, 2);
      await host.devlink.setEswitchMode(pf, "legacy");
      await eventually(
        () => portsBelow(host, pf),
        (ports) => {
          assert.deepEqual(ports, []);
        },
      );
    },
  },
  {
    name: "removes the representors with their VFs",
    async run({ host, pfs: [pf], hasEswitch }) {
      if (!hasEswitch) return;
      await host.devlink.setEswitchMode(pf, "switchdev");
      await host.sriov.setNumVfs(pf, 1);
      await eventually(
        () => portsBelow(host, pf),
        (ports) => {
          assert.deepEqual(ports, ["pf0vf0"]);
        },
      );
      await host.sriov.setNumVfs(pf, 0);
      await eventually(
        () => portsBelow(host, pf),
        (ports) => {
          assert.deepEqual(ports, []);
        },
      );
    },
  },
  {
    name: "reads and changes parameters of the driver, and has no unknown parameters",
    async run({ host, pfs: [pf], absent, hasEswitch }) {
      const name = "flow_steering_mode";
      assert.equal(await host.devlink.readParameter(absent, name), undefined);
      assert.equal(await host.devlink.readParameter(pf, "no_such_parameter"), undefined);
      if (!hasEswitch) {
        assert.equal(await host.devlink.readParameter(pf, name), undefined);
        return assertRefused(host.devlink.setParameter(pf, name, "smfs"), "ENODEV");
      }
      assert.equal(await host.devlink.readParameter(pf, name), "dmfs");
      await host.devlink.setParameter(pf, name, "smfs");
      assert.equal(await host.devlink.readParameter(pf, name), "smfs");
      await host.devlink.setParameter(pf, name, "dmfs");
      await assertRefused(host.devlink.setParameter(pf, "no_such_parameter", "x"), "EINVAL");
    },
  },
  {
    name: "has no health reporters in error, and none for a function that does not exist",
    async run({ host, pfs: [pf], absent }) {
      assert.deepEqual(await host.devlink.listHealthReporters(absent), []);
      const failed = (await host.devlink.listHealthReporters(pf)).filter(({ state }) => state === "error");
      assert.deepEqual(failed, []);
    },
  },
  {
    name: "turns hw-tc-offload on and off where the driver supports it, and refuses it elsewhere",
    async run({ host, pfs: [pf], hasEswitch }) {
      const { name } = await linkOf(host, pf);
      const feature = "hw-tc-offload";
      assert.deepEqual(await host.links.readFeature(name, feature), { on: false, changeable: hasEswitch });
      if (!hasEswitch) {
        return assertRefused(host.links.setFeature(name, feature, true), "EOPNOTSUPP", "the driver did not change it");
      }
      for (const on of [true, false]) {
        await host.links.setFeature(name, feature, on);
        assert.deepEqual(await host.links.readFeature(name, feature), { on, changeable: true });
      }
      await assertRefused(host.links.readFeature("nosuch0", feature), "ENODEV", "no device matches name");
    },
  },
  {
    name: "follows udev rules from the moment in which they were reloaded",
    async run({ host, pfs: [pf], hasUdev, udevProperties }) {
      await host.udev.reloadRules(); // no error without udev
      if (!hasUdev) return;
      const test = `TEST=="/sys/bus/pci/devices/${pf}/virtfn0/net/%k"`;
      const text = [
        `SUBSYSTEM=="net", ACTION!="remove", ${test}, ENV{HOST_CONTRACT}="1"`,
        `SUBSYSTEM=="net", ACTION=="add", ${test}, NAME="contract0"`,
      ];
      await host.files.writeText(ruleFile, `${text.join("\n")}\n`);
      await host.udev.reloadRules();
      try {
        const { pciAddress: vf } = await makeVf(host, pf);
        assert.equal((await linkOf(host, vf)).name, "contract0");
        assert.equal((await udevProperties("contract0"))["HOST_CONTRACT"], "1");
        assert.equal((await udevProperties((await linkOf(host, pf)).name))["HOST_CONTRACT"], undefined);
      } finally {
        await host.files.remove(ruleFile);
        await host.udev.reloadRules();
      }
      await host.sriov.setNumVfs(pf, 0);
      const { pciAddress: vf } = await makeVf(host, pf);
      assert.notEqual((await linkOf(host, vf)).name, "contract0");
    },
  },
];
