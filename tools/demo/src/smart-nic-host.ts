// SPDX-License-Identifier: Apache-2.0
/**
 * startSmartNicHost simulates a host with a BlueField-2: the Node, a fake kernel in this process, and the config daemon as a
 * process. A reboot writes the files of a MachineConfig, as OpenShift's machine config daemon does.
 * Usage: `const host = await startSmartNicHost(testCluster, "host-1"); await host.reboot(config);`
 */
import { blueField, createFakeKernel, serveFakeKernel, type FakeKernel } from "@switchyard/host/testing";
import { createNode, type MergedMachineConfig, type TestCluster } from "@switchyard/test-cluster";
import type { GuardedProcess } from "@switchyard/testing";
import { join } from "node:path";
import { hostRole } from "./openshift-objects.ts";

export interface SmartNicHost {
  readonly name: string;
  readonly kernel: FakeKernel;
  /** Ends the daemon, boots with the files of the configuration, and starts the daemon. */
  reboot(config: MergedMachineConfig): Promise<void>;
}

export async function startSmartNicHost(testCluster: TestCluster, name: string): Promise<SmartNicHost> {
  const kernel = createFakeKernel({ nics: [blueField("0000:3b:00.0")], setNumVfsMs: 300 });
  const socket = join(testCluster.directory, `${name}.sock`);
  testCluster.use(await serveFakeKernel(kernel, socket));
  await createNode(testCluster, name);
  await testCluster.cluster.kubectl(["label", "node", name, `${hostRole}=`]);
  const start = (): GuardedProcess =>
    testCluster.start(name, "apps/config-daemon/src/testing/fake-node.ts", [
      ...["--node-name", name, "--kernel-socket", socket],
    ]);
  let daemon = start();
  let written: readonly string[] = [];
  return {
    name,
    kernel,
    async reboot(config) {
      await daemon.kill();
      const files = filesOf(config);
      for (const path of written) if (!files.has(path)) await kernel.host().files.remove(path);
      for (const [path, text] of files) kernel.writeFile(path, text);
      written = [...files.keys()];
      kernel.reboot();
      daemon = start();
    },
  };
}

/** Paths and texts of the files, units and drop-ins. */
function filesOf({ config }: MergedMachineConfig): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const add = (path: string, text: unknown): void => {
    if (typeof text === "string") files.set(path, text);
  };
  for (const { path, contents } of config.storage?.files ?? []) {
    const source = typeof contents === "object" && contents !== null && "source" in contents ? contents.source : "";
    add(String(path), textOf(String(source)));
  }
  for (const { name, contents, dropins } of config.systemd?.units ?? []) {
    const unit = `/etc/systemd/system/${String(name)}`;
    add(unit, contents);
    for (const dropin of Array.isArray(dropins) ? (dropins as readonly Record<string, unknown>[]) : []) {
      add(`${unit}.d/${String(dropin["name"])}`, dropin["contents"]);
    }
  }
  return files;
}

/** Text of a data URL. */
function textOf(source: string): string {
  const [, form = "", data = ""] = /^data:([^,]*),(.*)$/s.exec(source) ?? [];
  return form.endsWith(";base64") ? Buffer.from(data, "base64").toString() : decodeURIComponent(data);
}
