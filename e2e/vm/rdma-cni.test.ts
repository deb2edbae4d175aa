// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the real CNI plugin rdma with the configuration that is rendered for a SriovNetwork, on a real kernel with a software RDMA
 * device (rdma_rxe) on a VF. Such a device is not below its PCI device in sysfs, and the kernel does not move it to another
 * network namespace, so the plugin's last step needs a card with RDMA.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { goPrograms } from "@switchyard/go-programs";
import { renderNetwork } from "@switchyard/render";
import { bootGuest, type Guest } from "@switchyard/vm-lab";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { disposeOf } from "../src/dispose-of.ts";

const pf = "/sys/bus/pci/devices/0000:01:00.0";
const limitMs = 600_000;
let guest: Guest;
let share: string;
let deviceID: string;

beforeAll(async () => {
  share = await mkdtemp(join(tmpdir(), "switchyard-rdma-cni-"));
  await copyFile(join(await goPrograms("rdma-cni"), "rdma"), join(share, "rdma-cni"));
  guest = await bootGuest({ udev: true, share });
  await output(`echo 1 >${pf}/sriov_numvfs; udevadm settle; ip link set enp1s0f0v0 up`);
  await output("modprobe rdma_rxe && rdma link add rxe0 type rxe netdev enp1s0f0v0");
  deviceID = await output(`basename $(readlink ${pf}/virtfn0)`);
}, limitMs);

afterAll(async () => {
  await disposeOf(guest);
  await rm(share, { recursive: true, force: true });
});

async function output(command: string): Promise<string> {
  const { code, stdout, stderr } = await guest.exec(command, { timeoutMs: limitMs });
  expect({ command, code, stderr }).toMatchObject({ code: 0 });
  return stdout.trim();
}

/** What the runtime passes to the second plugin of a network with metaPlugins. */
function configuration() {
  const rendered = renderNetwork(
    {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovNetwork",
      metadata: { name: "fast", namespace: "default" },
      spec: { resourceName: "fast", metaPlugins: '{"type": "rdma"}' },
    },
    { resourcePrefix: "openshift.io" },
  );
  if (!rendered.ok) throw new Error(JSON.stringify(rendered.error));
  const { cniVersion, name, plugins } = JSON.parse(rendered.value.spec.config) as {
    readonly cniVersion: string;
    readonly name: string;
    readonly plugins: readonly object[];
  };
  const prevResult = { cniVersion, interfaces: [{ name: "net1", sandbox: "/run/netns/pod" }], ips: [] };
  return { cniVersion, name, ...plugins[1], deviceID, prevResult };
}

/** Runs the plugin, and returns its answer. */
async function call(
  command: "ADD" | "DEL" | "VERSION",
): Promise<{ readonly code: number | null; readonly answer: string }> {
  await writeFile(join(share, "config.json"), JSON.stringify(configuration()));
  const variables = `CNI_COMMAND=${command} CNI_CONTAINERID=c1 CNI_IFNAME=net1 CNI_NETNS=/run/netns/pod CNI_PATH=/opt/cni/bin`;
  const { code, stdout } = await guest.exec(`${variables} /share/rdma-cni </share/config.json`, { timeoutMs: limitMs });
  return { code, answer: stdout };
}

describe("the rdma CNI plugin", () => {
  it("supports the CNI version of networks", async () => {
    expect((await call("VERSION")).answer).toContain(`"${configuration().cniVersion}"`);
  });

  it("refuses a node in RDMA mode shared", async () => {
    const { code, answer } = await call("ADD");
    expect([code, answer]).toEqual([
      1,
      expect.stringContaining(
        "RDMA subsystem namespace awareness mode is set to shared, expecting it to be set to exclusive",
      ),
    ]);
  });

  it("reads the rendered configuration in mode exclusive, and finds no RDMA device below the VF", async () => {
    await output("rdma system set netns exclusive; ip netns add pod");
    const { code, answer } = await call("ADD");
    expect([code, answer]).toEqual([
      1,
      expect.stringContaining(`failed to get RDMA device for device ID ${deviceID}: no RDMA devices found`),
    ]);
    expect(await output("readlink /sys/class/infiniband/rxe0")).toContain("/virtual/");
    expect(await call("DEL")).toEqual({ code: 0, answer: "" });
  });

  it("could not move the software device, because the kernel does not", async () => {
    const moved = await guest.exec("rdma dev set rxe0 netns pod", { timeoutMs: limitMs });
    expect([moved.code === 0, moved.stderr]).toEqual([false, expect.stringContaining("not supported")]);
  });
});
