// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { machineConfigBootUnits } from "@switchyard/api";
import { readFileSync } from "node:fs";
import { bridgeRemovalUnit, isOwnOffloadFile, ovnOffloadFiles, ovnOffloadUnits } from "./offload-units.ts";
import { ovnOffloadMachineConfig } from "./offload-machine-config.ts";

const golden = (name: string) => readFileSync(new URL(`./testdata/${name}`, import.meta.url), "utf8");

/** The content of a MachineConfig for people: what lies on the host. */
function hostFiles(): string {
  const dropIns = ovnOffloadUnits().flatMap(({ name, contents, dropins = [] }) => [
    ...(contents === undefined ? [] : [{ path: `/etc/systemd/system/${name}`, mode: 0o644, text: contents }]),
    ...dropins.map((dropIn) => ({
      path: `/etc/systemd/system/${name}.d/${dropIn.name}`,
      mode: 0o644,
      text: dropIn.contents,
    })),
  ]);
  return [...ovnOffloadFiles(), ...dropIns]
    .map(({ path, mode, text }) => `==> ${path} (0${mode.toString(8)})\n${text}`)
    .join("\n");
}

describe("ovnOffloadMachineConfig", () => {
  it("is this text, whose change reboots all hosts", () => {
    const config = ovnOffloadMachineConfig({ name: "dpu-host", role: "dpu-host" });
    expect(`${JSON.stringify(config, undefined, 2)}\n`).toBe(golden("99-dpu-host-ovn-hw-offload.json"));
    expect(hostFiles()).toBe(golden("host-files.txt"));
  });

  it("has the role by which the pool selects it, and nothing else that depends on the pool", () => {
    const [a, b] = ["pool-a", "pool-b"].map((name) => ovnOffloadMachineConfig({ name, role: "worker-a" }));
    expect(a?.metadata).toEqual({
      name: "99-pool-a-ovn-hw-offload",
      labels: {
        "app.kubernetes.io/managed-by": "switchyard-ovn-offload",
        "machineconfiguration.openshift.io/role": "worker-a",
        "switchyard.io/ovn-offload-pool": "pool-a",
      },
    });
    expect(a?.spec).toEqual(b?.spec);
  });

  it("contains the files, with decimal modes", () => {
    const { files } = ovnOffloadMachineConfig({ name: "a", role: "a" }).spec.config.storage;
    const texts = files.map(({ contents: { source } }) =>
      Buffer.from(source.replace(/^data:text\/plain;charset=utf-8;base64,/, ""), "base64").toString("utf8"),
    );
    expect(texts).toEqual(ovnOffloadFiles().map(({ text }) => text));
    expect(files.map(({ mode }) => mode)).toEqual([420, 493]);
  });
});

describe("the units", () => {
  it("mask nothing, and neither enable nor disable the units of others", () => {
    for (const unit of ovnOffloadUnits()) {
      expect(unit).not.toHaveProperty("mask");
      if (unit.name !== bridgeRemovalUnit) expect(Object.keys(unit)).toEqual(["name", "dropins"]);
    }
  });

  it("are skipped by one condition alone", () => {
    const texts = ovnOffloadUnits().flatMap(({ dropins = [] }) => dropins.map(({ contents }) => contents));
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toContain("\n[Unit]\nConditionPathExists=/enoent\n");
  });

  it("all say that they are Switchyard's", () => {
    const texts = ovnOffloadUnits().flatMap(({ contents, dropins = [] }) => [
      ...(contents === undefined ? [] : [contents]),
      ...dropins.map((dropIn) => dropIn.contents),
    ]);
    const files = ovnOffloadFiles().map(({ text }) => text);
    expect([...texts, ...files].filter((text) => !isOwnOffloadFile(text))).toEqual([]);
    expect(isOwnOffloadFile("[Unit]\nConditionPathExists=/enoent\n")).toBe(false);
  });

  it("and those that create VFs at boot start before the kubelet, and no unit requires them", () => {
    const own = ovnOffloadUnits().find(({ name }) => name === bridgeRemovalUnit)?.contents ?? "";
    const [pre = "", post = ""] = machineConfigBootUnits.map(({ text }) => text);
    for (const text of [own, post]) expect(text).toMatch(/^Before=.*\bkubelet\.service\b/m);
    expect(pre).toMatch(/^Before=.*\bNetworkManager\.service\b/m);
    for (const text of [own, pre, post]) {
      expect(text).not.toMatch(/^RequiredBy=/m);
      expect(text).toMatch(/^WantedBy=multi-user\.target$/m);
    }
  });
});
