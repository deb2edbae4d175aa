// SPDX-License-Identifier: Apache-2.0
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { notRegistered } from "./condition.ts";
import { createRegistration } from "./registered-resources.ts";

let root = "";

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "kubelet-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** The file as the kubelet 1.36 writes it. */
const checkpoint = (devices: Readonly<Record<string, readonly string[] | null>> | null): string =>
  JSON.stringify({ Data: { PodDeviceEntries: null, RegisteredDevices: devices }, Checksum: 2183391117 });

async function kubelet(name: string, text?: string): Promise<string> {
  const directory = join(root, name);
  await mkdir(join(directory, "device-plugins"), { recursive: true });
  await writeFile(join(directory, "device-plugins/kubelet.sock"), "");
  if (text !== undefined) await writeFile(join(directory, "device-plugins/kubelet_internal_checkpoint"), text);
  return directory;
}

const resources = ["openshift.io/fast", "openshift.io/dpdk"];

describe("a resource", () => {
  it("is registered when the kubelet has a device of it", async () => {
    const both = checkpoint({ "openshift.io/fast": ["0000:01:10.0"], "openshift.io/dpdk": ["0000:01:10.2"] });
    const unregistered = await createRegistration(await kubelet("both", both))(resources);
    expect(unregistered).toEqual({ resources: [], isKubeletAbsent: false });
  });

  it("is not registered before a plugin has told the kubelet about it, and after the plugin has ended", async () => {
    const ended = checkpoint({ "openshift.io/fast": ["0000:01:10.0"], "openshift.io/dpdk": null });
    const after = await createRegistration(await kubelet("ended", ended))(resources);
    expect(after).toEqual({ resources: ["openshift.io/dpdk"], isKubeletAbsent: false });
    for (const [name, text] of Object.entries({ none: undefined, empty: checkpoint(null) })) {
      expect(await createRegistration(await kubelet(name, text))(resources)).toMatchObject({ resources });
    }
    const condition = notRegistered(
      { resources: ["openshift.io/dpdk"], isKubeletAbsent: false },
      "VFs advertised: dpdk: 1",
    );
    expect(condition).toMatchObject({ status: "False", reason: "NotRegistered" });
    expect(condition.message).toContain("no device plugin has registered openshift.io/dpdk at the kubelet yet");
  });

  it("is not registered where no kubelet is, and the message names the setting", async () => {
    const directory = join(root, "empty-directory");
    await mkdir(join(directory, "device-plugins"), { recursive: true });
    const unregistered = await createRegistration(directory)(resources);
    expect(unregistered).toEqual({ resources, isKubeletAbsent: true });
    const { message } = notRegistered({ resources, isKubeletAbsent: true }, "");
    expect(message).toContain("operator.kubeletDirectory");
  });

  it("counts as registered if that is not known", async () => {
    for (const text of ["{", "[]", '{"Data":[]}']) {
      expect(await createRegistration(await kubelet("foreign", text))(resources)).toBeUndefined();
    }
    expect(await createRegistration(join(root, "absent"))(resources)).toBeUndefined();
  });
});
