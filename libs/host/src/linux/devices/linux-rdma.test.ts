// SPDX-License-Identifier: Apache-2.0
/** The kernel's side is answered here; the contract suite has a real one's turn, and the codec is proven in libs/netlink. */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { parseGuid } from "@switchyard/api";
import { NetlinkSocket, protocols } from "@switchyard/netlink";
import { ack, createFakeKernel, reply, type Respond } from "@switchyard/netlink/testing";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { createLinuxRdma } from "./linux-rdma.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "rdma-"));
});
afterEach(() => rm(root, { recursive: true }));

async function loadIbCore(initstate?: string): Promise<void> {
  await mkdir(join(root, "sys/module/ib_core"), { recursive: true });
  if (initstate !== undefined) await writeFile(join(root, "sys/module/ib_core/initstate"), `${initstate}\n`);
}

function createRdma(respond: Respond, socketResult?: number) {
  const kernel = createFakeKernel(respond);
  let opened = 0;
  const openSocket = () => {
    opened++;
    const libc = socketResult === undefined ? kernel : { ...kernel, socket: () => socketResult };
    return new NetlinkSocket({ protocol: protocols.rdma, libc });
  };
  const route = new NetlinkSocket({ protocol: protocols.route, libc: createFakeKernel(respond) });
  return { kernel, rdma: createLinuxRdma({ root, openSocket, route }), countOpened: () => opened };
}

/** RDMA_NLDEV_SYS_ATTR_NETNS_MODE. */
function mode(value: number): Respond {
  return (asked) => [reply(asked, asked.type, Buffer.of(5, 0, 66, 0, value, 0, 0, 0)), ack(asked)];
}

describe("readMode", () => {
  it.each([
    { value: 0, expected: "exclusive", initstate: "live" },
    { value: 1, expected: "shared", initstate: undefined },
  ])("reads $expected, and closes its socket", async ({ value, expected, initstate }) => {
    await loadIbCore(initstate);
    const { kernel, rdma } = createRdma(mode(value));
    await expect(rdma.readMode()).resolves.toBe(expected);
    expect(kernel.countOpen()).toBe(0);
  });

  it("opens no socket if ib_core is not loaded or is being loaded, because that would load it", async () => {
    const { rdma, countOpened } = createRdma(mode(1));
    await expect(rdma.readMode()).resolves.toBeUndefined();
    await loadIbCore("coming");
    await expect(rdma.readMode()).resolves.toBeUndefined();
    expect(countOpened()).toBe(0);
  });

  it("returns undefined if ib_core is unloaded meanwhile, or has no modes", async () => {
    await loadIbCore();
    const gone = createRdma(mode(1), -constants.errno.EPROTONOSUPPORT);
    await expect(gone.rdma.readMode()).resolves.toBeUndefined();
    const old = createRdma((asked) => [ack(asked, { code: "EINVAL" })]);
    await expect(old.rdma.readMode()).resolves.toBeUndefined();
    expect(old.kernel.countOpen()).toBe(0);
  });

  it("rejects with HostError for other errors and for malformed answers", async () => {
    await loadIbCore();
    const refused = createRdma((asked) => [ack(asked, { code: "EPERM", words: "no" })]);
    await expect(refused.rdma.readMode()).rejects.toMatchObject({
      name: "HostError",
      code: "EPERM",
      message: "read RDMA mode on the kernel: EPERM (no)",
    });
    const odd = createRdma(mode(7));
    await expect(odd.rdma.readMode()).rejects.toMatchObject({ name: "HostError", code: "EBADMSG" });
    expect([refused, odd].map(({ kernel }) => kernel.countOpen())).toEqual([0, 0]);
  });
});

describe("setMode", () => {
  it("sets the mode, and closes its socket", async () => {
    await loadIbCore("live");
    const { kernel, rdma } = createRdma((asked) => [ack(asked)]);
    await rdma.setMode("exclusive");
    expect(kernel.requests.map(({ payload }) => payload.toString("hex"))).toEqual(["0500420000000000"]);
    expect(kernel.countOpen()).toBe(0);
  });

  it("rejects with the answer of the kernel, and opens no socket if ib_core is not loaded", async () => {
    const unloaded = createRdma((asked) => [ack(asked)]);
    await expect(unloaded.rdma.setMode("shared")).rejects.toMatchObject({ name: "HostError", code: "EPROTONOSUPPORT" });
    expect(unloaded.countOpened()).toBe(0);
    await loadIbCore();
    const busy = createRdma((asked) => [ack(asked, { code: "EBUSY" })]);
    await expect(busy.rdma.setMode("shared")).rejects.toThrow("set RDMA mode shared on the kernel: EBUSY");
    expect(busy.kernel.countOpen()).toBe(0);
  });
});

describe("listDevices", () => {
  it("lists devices with their PCI function, and leaves out devices that are being removed", async () => {
    const { rdma } = createRdma(mode(1));
    expect(await rdma.listDevices()).toEqual([]);
    const classDirectory = join(root, "sys/class/infiniband");
    for (const [name, device] of [
      ["mlx5_1", "../../../0000:3b:00.2"],
      ["mlx5_0", "../../../0000:3b:00.0"],
      ["rxe0", undefined],
      ["gone", "../../../0000:3b:00.3"],
    ] as const) {
      await mkdir(join(classDirectory, name), { recursive: true });
      if (device !== undefined) await symlink(device, join(classDirectory, name, "device"));
      if (name !== "gone") await writeFile(join(classDirectory, name, "node_guid"), "0c42:a103:0016:054c\n");
    }
    const ports = join(classDirectory, "mlx5_1/ports/1");
    await mkdir(ports, { recursive: true });
    await writeFile(join(ports, "state"), "1: DOWN\n");
    const nodeGuid = "0c42:a103:0016:054c";
    expect(await rdma.listDevices()).toEqual([
      { name: "mlx5_0", pciAddress: "0000:3b:00.0", nodeGuid },
      { name: "mlx5_1", pciAddress: "0000:3b:00.2", nodeGuid, portState: "DOWN" },
      { name: "rxe0", nodeGuid },
    ]);
  });
});

describe("setVfGuid", () => {
  it("rejects with the answer of the kernel", async () => {
    const guid = parseGuid("02:00:00:00:00:00:00:01");
    if (!guid.ok) throw new Error(guid.error.text);
    const { rdma } = createRdma((asked) => [ack(asked, { code: "EOPNOTSUPP" })]);
    await expect(rdma.setVfGuid("ib0", 3, guid.value)).rejects.toThrow(
      "set vf 3 guid 02:00:00:00:00:00:00:01 on ib0: EOPNOTSUPP",
    );
  });
});
