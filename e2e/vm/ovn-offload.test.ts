// SPDX-License-Identifier: Apache-2.0
/**
 * Tests what OVN offload changes on a host with a real systemd, udev, Open vSwitch, NetworkManager and real VFs. The PFs pretend to
 * be a BlueField-2, ignition-apply writes the files of the MachineConfig, and units stand in for those of OpenShift.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  bridgeRemovalUnit,
  ovnOffloadDropIn,
  ovnOffloadFiles,
  ovnOffloadMachineConfig,
  ovnOffloadUnits,
} from "@switchyard/render";
import { bootGuest, type Guest } from "@switchyard/vm-lab";
import { runProgram } from "@switchyard/testing";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { disposeOf } from "../src/dispose-of.ts";
import { debianIgnition } from "../src/debian-ignition.ts";
import { openshiftUnits, privateFile } from "./ovn-offload/openshift-units.ts";

/** A boot with systemd takes twenty seconds, and several times as long on a loaded machine. */
const withinMs = 600_000;
const sysfs = "/sys/bus/pci/devices";
const ids = ["lab_vendor=0x15b3", "lab_device=0xa2d6"];

let guest: Guest;
let share: string;

/** Runs a command and returns its output. Its exit code is ignored. */
async function inGuest(command: string): Promise<string> {
  const { stdout, stderr } = await guest.exec(command, { timeoutMs: withinMs });
  return (stdout + stderr).trim();
}

const stateOf = (units: readonly string[]) => inGuest(`systemctl is-active ${units.join(" ")}`);
const connections = () => inGuest("nmcli --get-values NAME connection show | grep -e br-ex -e phys0 | sort");
const nameOf = (port: number, vf: number) => inGuest(`ls ${sysfs}/0000:01:00.${port}/virtfn${vf}/net`);

/** The units that run on a host with Open vSwitch. */
const switchUnits = [
  "openvswitch.service",
  "openvswitch-switch.service",
  "ovsdb-server.service",
  "ovs-vswitchd.service",
];

beforeAll(async () => {
  share = await mkdtemp(join(tmpdir(), "switchyard-offload-"));
  await mkdir(join(share, "tree"));
  const { config } = ovnOffloadMachineConfig({ name: "dpu-host", role: "dpu-host" }).spec;
  await writeFile(join(share, "config.ign"), JSON.stringify(config));
  const { apply } = await debianIgnition();
  await runProgram(apply, ["--root", join(share, "tree"), join(share, "config.ign")]);
  for (const { path, text } of openshiftUnits) {
    await mkdir(join(share, "openshift", path, ".."), { recursive: true });
    await writeFile(join(share, "openshift", path), text);
  }
  guest = await bootGuest({
    boot: "systemd",
    udev: true,
    driver: "igbsw",
    share,
    kernelArguments: ids.map((id) => `igbsw.${id}`),
  });
}, 1_200_000);

afterAll(async () => {
  await disposeOf(guest);
  await rm(share, { recursive: true, force: true });
}, 60_000);

describe("a host", () => {
  it(
    "runs Open vSwitch, and br-ex has the address, before",
    async () => {
      await inGuest(`cp -r /share/openshift/. / && chmod 600 ${privateFile} && rm -f /etc/systemd/system/NetworkManager-wait-online.service
systemctl daemon-reload
systemctl enable openvswitch-switch NetworkManager NetworkManager-wait-online openvswitch ovs-configuration \\
  wait-for-br-ex-up kubelet create-vfs`);
      await guest.reboot();
      expect(await stateOf([...switchUnits, "ovs-configuration", "kubelet"])).toBe("active\n".repeat(6).trim());
      expect(await inGuest("cat /run/kubelet-found")).toBe("br-ex 192.0.2.7/24");
      expect((await connections()).split("\n")).toEqual([
        ...["br-ex", "ovs-if-br-ex", "ovs-if-phys0", "ovs-port-br-ex", "ovs-port-phys0"],
      ]);
      expect(await inGuest("ls /sys/class/net")).not.toContain("ovnmgmt0");
    },
    2 * withinMs,
  );

  it(
    "boots with the MachineConfig: Open vSwitch is skipped, the interface has its address, and the kubelet starts",
    async () => {
      // The machine config daemon enables units by itself, without presets.
      await inGuest(
        `cd /share/tree && tar -c --exclude 'system-preset' . | tar -x -C / && systemctl enable ${bridgeRemovalUnit}`,
      );
      await guest.reboot();
      expect(await stateOf(switchUnits)).toBe("inactive\n".repeat(4).trim());
      expect(await inGuest("pgrep -l ovs")).toBe("");
      expect(await stateOf(["ovs-configuration", "wait-for-br-ex-up"])).toBe("inactive\ninactive");
      expect(await inGuest("systemctl show --value -p ConditionResult ovs-configuration")).toBe("no");
      expect(await stateOf([bridgeRemovalUnit, "kubelet-dependencies.target", "kubelet"])).toBe(
        "active\nactive\nactive",
      );
      expect(await inGuest("cat /run/kubelet-found")).toBe("enp1s0f1np1 192.0.2.7/24");
      expect(await connections()).toBe("");
      await inGuest(`systemctl restart ${bridgeRemovalUnit}`); // it can be repeated
      expect(await stateOf([bridgeRemovalUnit])).toBe("active");
      expect(await inGuest("ip -o -4 address show to 192.0.2.7")).toContain("enp1s0f1np1");
      expect(await inGuest("systemctl --failed --no-legend --plain")).toBe("");
    },
    2 * withinMs,
  );

  it(
    "has VF 0 of the first port under its permanent name, and no other VF",
    async () => {
      expect(await inGuest(`cat ${sysfs}/0000:01:00.0/device`)).toBe("0xa2d6");
      expect(await inGuest("udevadm verify /etc/udev/rules.d/70-*")).not.toMatch(/error|warning|invalid/i);
      expect(await nameOf(0, 0)).toBe("ovnmgmt0");
      const others = await Promise.all([nameOf(0, 1), nameOf(1, 0), nameOf(1, 1)]);
      expect(others.filter((name) => !/^(?:eth\d+|enp1s0f\dv\d)$/.test(name))).toEqual([]);
      expect(await inGuest("udevadm info -q property -p /sys/class/net/ovnmgmt0")).toContain("NM_UNMANAGED=1");
    },
    withinMs,
  );

  it(
    "keeps the name that ovnkube gives to VF 0, whatever event udev handles",
    async () => {
      await inGuest("ip link set ovnmgmt0 down; ip link set ovnmgmt0 name ovn-k8s-mp0; ip link set ovn-k8s-mp0 up");
      for (const action of ["change", "add", "move"]) {
        await inGuest(`udevadm trigger --action=${action} --subsystem-match=net; udevadm settle`);
        expect(await nameOf(0, 0)).toBe("ovn-k8s-mp0");
        expect(await inGuest("udevadm info -q property -p /sys/class/net/ovn-k8s-mp0")).toContain("NM_UNMANAGED=1");
      }
    },
    withinMs,
  );

  it(
    "has the name again when the number of VFs has changed",
    async () => {
      await inGuest("sh /usr/local/bin/create-vfs 3");
      expect(await nameOf(0, 0)).toBe("ovnmgmt0");
      expect(await inGuest("ls /sys/class/net | grep -c '^ovn'")).toBe("1");
    },
    withinMs,
  );

  it(
    "runs Open vSwitch again after the MachineConfig is gone, and br-ex has the address",
    async () => {
      const dropIns = ovnOffloadUnits().flatMap(({ name, dropins = [] }) =>
        dropins.map((dropIn) => `/etc/systemd/system/${name}.d/${dropIn.name}`),
      );
      expect(dropIns.every((path) => path.endsWith(ovnOffloadDropIn))).toBe(true);
      const files = [
        ...ovnOffloadFiles().map(({ path }) => path),
        ...dropIns,
        `/etc/systemd/system/${bridgeRemovalUnit}`,
      ];
      await inGuest(`systemctl disable ${bridgeRemovalUnit}; rm ${files.join(" ")}`);
      await guest.reboot();
      expect(await stateOf([...switchUnits, "ovs-configuration", "kubelet"])).toBe("active\n".repeat(6).trim());
      expect(await inGuest("cat /run/kubelet-found")).toBe("br-ex 192.0.2.7/24");
      expect(await inGuest("ls /sys/class/net")).not.toContain("ovnmgmt0");
      expect(await inGuest("systemctl --failed --no-legend --plain")).toBe("");
    },
    2 * withinMs,
  );
});

describe("another NIC", () => {
  it(
    "has no VF of the permanent name",
    async () => {
      const [rule] = ovnOffloadFiles();
      if (rule === undefined) throw new Error("no udev rule");
      await writeFile(join(share, "rule"), rule.text);
      await using other = await bootGuest({ udev: true });
      await other.push(join(share, "rule"), rule.path);
      const count = `echo 2 >${sysfs}/0000:01:00.0/sriov_numvfs`;
      const { stdout } = await other.exec(`udevadm control --reload; ${count}; udevadm settle; ls /sys/class/net`, {
        timeoutMs: withinMs,
      });
      expect(stdout).toMatch(/^enp1s0f0v0$/m);
      expect(stdout).not.toContain("ovnmgmt0");
    },
    2 * withinMs,
  );
});
