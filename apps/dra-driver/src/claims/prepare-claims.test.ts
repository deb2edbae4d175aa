// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { draDriverName } from "@switchyard/api";
import { cdiDirectory, claimSpecFile } from "@switchyard/render";
import {
  createClaimsWorld,
  killed,
  metadataDirectory,
  mortal,
  nodeName,
  type ClaimsWorld,
} from "../testing/claims-world.ts";

const specOf = ({ kernel }: ClaimsWorld, uid: string) =>
  kernel
    .host()
    .files.readText(`${cdiDirectory}/${claimSpecFile(uid) ?? ""}`)
    .then((text) => JSON.parse(text ?? "null") as unknown);

describe("prepare", () => {
  it("gives a VF to the containers of a claim as the device plugin does, and tells Multus and the container about it", async () => {
    const world = await createClaimsWorld();
    const claim = world.allocate("nic", [1]);
    const [vf = ""] = world.vfs.slice(1);
    expect(await world.start().prepare(claim)).toEqual([
      {
        requests: ["nic"],
        pool: nodeName,
        device: vf.replace(/[:.]/g, "-"),
        cdiDevices: [`${draDriverName}/vf-uid-of-nic=${vf}`],
      },
    ]);
    expect(await world.drivers()).toEqual(["igbvf", "igbvf", "igbvf", "igbvf"]);
    expect(await specOf(world, claim.uid)).toMatchObject({
      devices: [
        {
          name: vf,
          containerEdits: {
            env: [
              expect.stringContaining(`=${vf}`),
              `PCIDEVICE_OPENSHIFT_IO_FAST=${vf}`,
              `PCIDEVICE_OPENSHIFT_IO_FAST_INFO={"${vf}":{"generic":{"deviceID":"${vf}"}}}`,
            ],
            mounts: [
              {
                hostPath: `${metadataDirectory}/uid-of-nic_nic.json`,
                containerPath: `/var/run/kubernetes.io/dra-device-attributes/resourceclaims/nic/nic/${draDriverName}-metadata.json`,
              },
            ],
          },
        },
      ],
    });
    expect(world.files()).toEqual([
      "/run/cdi/sriovnetwork.k8snetworkplumbingwg.io-vf_uid-of-nic.json",
      `/run/k8s.cni.cncf.io/devinfo/dp/nic-${vf}-device.json`,
      `/run/k8s.cni.cncf.io/devinfo/dp/openshift.io-fast-${vf}-device.json`,
      `${metadataDirectory}/uid-of-nic_nic.json`,
    ]);
  });

  it("binds the driver that the claim asks for, passes its devices, and gives the VF back as its policy says", async () => {
    const world = await createClaimsWorld();
    const claim = world.allocate("vm", [2, 3], { driver: "vfio-pci", addVhostMount: true });
    const claims = world.start();
    await claims.prepare(claim);
    expect(await world.drivers()).toEqual(["igbvf", "igbvf", "vfio-pci", "vfio-pci"]);
    const paths = (group: number, nth: number) =>
      ["/dev/vfio/vfio", `/dev/vfio/${group}`, `/dev/vfio/devices/vfio${nth}`, "/dev/vhost-net", "/dev/net/tun"].map(
        (path) => ({ path }),
      );
    const [, , third = "", fourth = ""] = world.vfs;
    expect(await specOf(world, claim.uid)).toMatchObject({
      devices: [
        {
          annotations: { "switchyard.io/driver": "vfio-pci" },
          containerEdits: {
            env: expect.arrayContaining([`PCIDEVICE_OPENSHIFT_IO_FAST=${third},${fourth}`]),
            deviceNodes: paths(42, 2),
          },
        },
        { containerEdits: { env: [expect.stringContaining(fourth)], deviceNodes: paths(43, 3) } },
      ],
    });
    await claims.unprepare(claim);
    expect(await world.drivers()).toEqual(["igbvf", "igbvf", "igbvf", "igbvf"]);
    expect(world.files()).toEqual([]);
  });

  it("gives a VF of a vfio-pci policy to the kernel's driver and back, when a claim asks for it", async () => {
    const world = await createClaimsWorld({ deviceType: "vfio-pci" });
    const claims = world.start();
    const claim = world.allocate("net", [0], { driver: "default" });
    await claims.prepare(claim);
    expect((await world.drivers())[0]).toBe("igbvf");
    await claims.unprepare(claim);
    expect((await world.drivers())[0]).toBe("vfio-pci");
  });

  it("can be repeated at any time, and then writes nothing and changes no driver of a running pod", async () => {
    const world = await createClaimsWorld();
    const claim = world.allocate("nic", [0]);
    const first = await world.start().prepare(claim);
    const [vf0] = world.vfs;
    world.state = {
      ...world.state,
      spec: {
        interfaces: [
          { pciAddress: "0000:01:00.0", vfGroups: [{ resourceName: "fast", vfRange: "0-3", deviceType: "vfio-pci" }] },
        ],
      },
    };
    const obstacles = () => Promise.resolve(new Map([[vf0 ?? "", "the config daemon will change it"]]));
    expect(await world.start({ obstacles }).prepare(claim)).toEqual(first);
    expect((await world.drivers())[0]).toBe("igbvf");
  });

  it("gives no VF to two claims, even if both are prepared at once", async () => {
    const world = await createClaimsWorld();
    const claims = world.start();
    const [a, b] = [world.allocate("a", [0, 1]), world.allocate("b", [1, 2])];
    const results = await Promise.allSettled([claims.prepare(a), claims.prepare(b)]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(results[1]).toMatchObject({
      reason: { message: expect.stringContaining("is prepared for claim default/a") },
    });
    await claims.unprepare(b); // the kubelet does this for a pod that is deleted
    expect((await claims.records()).map(({ name }) => name)).toEqual(["a"]);
    await claims.unprepare(a);
    await claims.prepare(b);
  });

  it("lets a claim with adminAccess see a VF that another claim has, and changes nothing of it", async () => {
    const world = await createClaimsWorld();
    const claims = world.start();
    const [owner, admin] = [
      world.allocate("owner", [0], { driver: "vfio-pci" }),
      world.allocate("admin", [0], { isAdmin: true, driver: "default" }),
    ];
    await claims.prepare(owner);
    const [prepared] = await claims.prepare(admin);
    expect(prepared?.cdiDevices).toEqual([`${draDriverName}/vf-uid-of-admin=admin-${world.vfs[0] ?? ""}`]);
    await claims.unprepare(admin);
    expect((await world.drivers())[0]).toBe("vfio-pci");
    expect((await claims.records()).map(({ name }) => name)).toEqual(["owner"]);
  });

  it.each([
    {
      what: "a claim that was deleted and created again",
      uid: "other",
      error: "the claim has the uid uid-of-nic; the one with other was deleted",
    },
    { what: "a uid that is a path", uid: "../../etc/passwd", error: '"../../etc/passwd" is not the uid of a claim' },
  ])("refuses $what", async ({ uid, error }) => {
    const world = await createClaimsWorld();
    await expect(world.start().prepare({ ...world.allocate("nic", [0]), uid })).rejects.toThrow(error);
    expect(world.files()).toEqual([]);
  });

  it("refuses a VF that another pod has, that its policy no longer names, or that the kernel has elsewhere", async () => {
    const world = await createClaimsWorld();
    const claim = world.allocate("nic", [0]);
    const obstacles = () => Promise.resolve(new Map([[world.vfs[0] ?? "", "pod default/web-0 has the VF"]]));
    await expect(world.start({ obstacles }).prepare(claim)).rejects.toThrow("pod default/web-0 has the VF");
    const { state } = world;
    world.state = { ...state, spec: { interfaces: [] } };
    await expect(world.start().prepare(claim)).rejects.toThrow("belongs to no resource of a policy");
    world.state = state;
    await world.kernel.setNumVfsByHand("0000:01:00.0" as never, 0);
    await expect(world.start().prepare(claim)).rejects.toThrow("in the kernel");
    expect(world.files()).toEqual([]);
  });

  it("refuses a claim that names a network while no runtime attaches it, and repeats it for a pod that runs", async () => {
    const world = await createClaimsWorld();
    const [plain, named] = [world.allocate("plain", [0]), world.allocate("named", [1], { netAttachDefName: "net" })];
    const admin = world.allocate("admin", [1], { netAttachDefName: "net", isAdmin: true });
    const whyNotAttached = () => "no runtime";
    const claims = world.start({ whyNotAttached });
    const words = "VfConfig names the network default/net, which cannot be attached: no runtime";
    await expect(claims.prepare(named)).rejects.toThrow(words);
    expect(await claims.records()).toEqual([]);
    await claims.prepare(plain);
    await claims.prepare(admin);
    await world.start().prepare(named);
    expect(await world.start({ whyNotAttached }).prepare(named)).toHaveLength(1);
  });

  it("lets a pod end although its VF cannot be restored", async () => {
    const world = await createClaimsWorld();
    const claims = world.start();
    const claim = world.allocate("vm", [0], { driver: "vfio-pci" });
    await claims.prepare(claim);
    world.kernel.fault({ port: "sriov", method: "unbindDriver" }, { code: "EIO" });
    await claims.unprepare(claim);
    expect(world.files()).toEqual([]);
    expect((await world.drivers())[0]).toBe("vfio-pci"); // a VF of no claim, which the plan of the config daemon binds again
  });
});

describe("a driver that is killed", () => {
  /** Kills at each write of `act` in turn, and calls `then` with a driver that has just started. */
  async function killAtEachWrite(
    then: (world: ClaimsWorld, nth: string) => Promise<void>,
    phase: "prepare" | "unprepare",
  ): Promise<number> {
    for (let nth = 1; ; nth++) {
      for (const when of ["before", "after"] as const) {
        const world = await createClaimsWorld();
        const other = world.allocate("other", [3], { driver: "vfio-pci" });
        await world.start().prepare(other);
        const claim = world.allocate("vm", [0, 1], { driver: "vfio-pci" });
        if (phase === "unprepare") await world.start().prepare(claim);
        const { host, state } = mortal(world.kernel.host(), { nth, when });
        const dying = world.start({ host });
        const ended = await Promise.race([
          dying[phase](claim).then(
            () => "done",
            (error: unknown) => error,
          ),
          new Promise((resolve) => setTimeout(resolve, 200, killed)),
        ]);
        if (!state.isDead) {
          expect(ended).not.toBe(killed);
          return nth;
        }
        await then(world, `${when} write ${nth}`);
        expect((await world.drivers())[3]).toBe("vfio-pci"); // that of the other claim
        expect((await world.start().records()).some(({ name }) => name === "other")).toBe(true);
      }
    }
  }

  it("completes the preparation when the kubelet repeats it, whatever write it was killed at", async () => {
    const writes = await killAtEachWrite(async (world) => {
      const claims = world.start();
      const thief = world.allocate("thief", [1]);
      const isRecorded = (await claims.records()).some(({ name }) => name === "vm");
      const stolen = await claims.prepare(thief).then(
        () => true,
        () => false,
      );
      expect(stolen).toBe(!isRecorded);
      await claims.unprepare(thief);
      const claim = world.allocate("vm", [0, 1], { driver: "vfio-pci" });
      expect(await claims.prepare(claim)).toHaveLength(2);
      expect((await world.drivers()).slice(0, 3)).toEqual(["vfio-pci", "vfio-pci", "igbvf"]);
      expect(await specOf(world, claim.uid)).toMatchObject({
        devices: [{ containerEdits: { deviceNodes: expect.anything() } }, {}],
      });
    }, "prepare");
    expect(writes).toBeGreaterThan(10);
  });

  it("leaves no VF behind when the pod is deleted meanwhile, whatever write it was killed at", async () => {
    await killAtEachWrite(async (world) => {
      const claims = world.start();
      await claims.unprepare({ namespace: "default", name: "vm", uid: "uid-of-vm" });
      expect((await world.drivers()).slice(0, 3)).toEqual(["igbvf", "igbvf", "igbvf"]);
      expect(world.files().filter((path) => path.includes("uid-of-vm"))).toEqual([]);
    }, "prepare");
  });

  it("completes the return of the VFs, whatever write it was killed at", async () => {
    const writes = await killAtEachWrite(async (world) => {
      await world.start().unprepare({ namespace: "default", name: "vm", uid: "uid-of-vm" });
      expect((await world.drivers()).slice(0, 3)).toEqual(["igbvf", "igbvf", "igbvf"]);
      expect(world.files().some((path) => /uid-of-vm|devinfo\/dp\/vm-/.test(path))).toBe(false);
      await world.start().prepare(world.allocate("next", [0, 1]));
    }, "unprepare");
    expect(writes).toBeGreaterThan(8);
  });
});
