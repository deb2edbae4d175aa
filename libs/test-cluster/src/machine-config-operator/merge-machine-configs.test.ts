// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { mergeMachineConfigs } from "./merge-machine-configs.ts";

function config(name: string, role: string, units: readonly object[], files: readonly object[] = []) {
  return {
    metadata: { name, labels: { "machineconfiguration.openshift.io/role": role } },
    spec: { config: { ignition: { version: "3.2.0" }, systemd: { units }, storage: { files } } },
  };
}

const unit = "openvswitch.service";

describe("mergeMachineConfigs", () => {
  it("lets MachineConfigs of other roles win over those of workers, whatever their names", () => {
    const merged = mergeMachineConfigs([
      config("00-aaa", "dpu-host", [{ name: unit, enabled: false }]),
      config("00-worker", "worker", [{ name: unit, enabled: true, contents: "[Unit]" }]),
    ]);
    expect(merged.config.systemd?.units).toEqual([{ name: unit, enabled: false, contents: "[Unit]" }]);
  });

  it("keeps a field that is null later", () => {
    const merged = mergeMachineConfigs([
      config("00-worker", "worker", [{ name: unit, enabled: true }]),
      config("99-mine", "dpu-host", [{ name: unit, enabled: null, mask: true }]),
    ]);
    expect(merged.config.systemd?.units).toEqual([{ name: unit, enabled: true, mask: true }]);
  });

  it("adds up drop-ins of a unit, and replaces those of the same name", () => {
    const [old, other, mine] = [
      { name: "10-a.conf", contents: "old" },
      { name: "20-b.conf", contents: "b" },
      { name: "10-a.conf", contents: "new" },
    ];
    const merged = mergeMachineConfigs([
      config("99-mine", "dpu-host", [{ name: unit, dropins: [mine] }]),
      config("00-worker", "worker", [{ name: unit, enabled: true, dropins: [old, other] }]),
    ]);
    expect(merged.config.systemd?.units).toEqual([{ name: unit, enabled: true, dropins: [mine, other] }]);
  });

  it("takes the file of the last MachineConfig by name, and all kernel arguments", () => {
    const merged = mergeMachineConfigs([
      { metadata: { name: "2" }, spec: { kernelArguments: ["b"] } },
      { ...config("1", "x", [], [{ path: "/a", mode: 420 }]) },
      { ...config("3", "x", [], [{ path: "/a", mode: 493 }]) },
      { metadata: { name: "0" }, spec: { kernelArguments: ["a"] } },
    ]);
    expect(merged.config.storage?.files).toEqual([{ path: "/a", mode: 493 }]);
    expect(merged.kernelArguments).toEqual(["a", "b"]);
  });

  it("has only an Ignition version without MachineConfigs, and ignores what is not an object", () => {
    const empty = { config: { ignition: { version: "3.5.0" } } };
    expect(mergeMachineConfigs([])).toEqual(empty);
    expect(
      mergeMachineConfigs([{ metadata: { name: "x" }, spec: { config: { systemd: { units: "none" } } } }]),
    ).toEqual(empty);
  });
});
