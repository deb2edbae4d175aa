// SPDX-License-Identifier: Apache-2.0
/**
 * What each verb of the ports is called in a HostError, so that the same refusal reads the same from every adapter.
 * Usage: `throw new HostError(attempts.sriov.setNumVfs(pf, 8), "EBUSY", { cause })`.
 */
import type { HostError } from "./host-error.ts";
import type { Host } from "../ports/host.ts";

/** For each verb of each port: what was tried, on what, given the verb's arguments. */
export type Attempts = {
  readonly [Port in keyof Host]: {
    readonly [Verb in keyof Host[Port]]: Host[Port][Verb] extends (...args: infer Args) => unknown
      ? (...args: Args) => HostError["at"]
      : never;
  };
};

export const attempts: Attempts = {
  boot: {
    readBootId: () => ({ tried: "read boot_id", target: "the kernel" }),
  },
  sriov: {
    listPfs: () => ({ tried: "list", target: "PCI functions" }),
    readPf: (pf) => ({ tried: "read", target: pf }),
    setNumVfs: (pf, count) => ({ tried: `set sriov_numvfs ${count}`, target: pf }),
    setDriversAutoprobe: (pf, on) => ({ tried: `set sriov_drivers_autoprobe ${on ? 1 : 0}`, target: pf }),
    setDriverOverride: (device, driver) => ({
      tried: driver === undefined ? "clear driver_override" : `set driver_override ${driver}`,
      target: device,
    }),
    bindDriver: (device, driver) => ({ tried: `bind driver ${driver}`, target: device }),
    unbindDriver: (device) => ({ tried: "unbind driver", target: device }),
    probeDrivers: (device) => ({ tried: "probe drivers", target: device }),
  },
  links: {
    listLinks: () => ({ tried: "list", target: "network interfaces" }),
    readSpeedMbps: (name) => ({ tried: "read speed", target: name }),
    setMtu: (name, mtu) => ({ tried: `set mtu ${mtu}`, target: name }),
    setAdminUp: (name, up) => ({ tried: `set link ${up ? "up" : "down"}`, target: name }),
    setVfMac: (pfName, vfId, mac) => ({ tried: `set vf ${vfId} mac ${mac}`, target: pfName }),
  },
  devlink: {
    readEswitchMode: (pf) => ({ tried: "read eswitch mode", target: pf }),
  },
  rdma: {
    readMode: () => ({ tried: "read RDMA mode", target: "the kernel" }),
  },
  udev: {
    settle: ({ timeoutMs }) => ({ tried: `settle within ${timeoutMs} ms`, target: "udev" }),
  },
  modules: {
    load: (module) => ({ tried: "load kernel module", target: module }),
  },
  records: {
    list: () => ({ tried: "list", target: "PF records" }),
    save: (pf) => ({ tried: "save record", target: pf }),
    remove: (pf) => ({ tried: "remove record", target: pf }),
  },
  files: {
    listNames: (directory) => ({ tried: "list", target: directory }),
    readKind: (path) => ({ tried: "look up", target: path }),
    readText: (path) => ({ tried: "read", target: path }),
    readLink: (path) => ({ tried: "read the link", target: path }),
    remove: (path) => ({ tried: "remove", target: path }),
  },
  events: {
    watch: () => ({ tried: "watch", target: "kernel events" }),
  },
};
