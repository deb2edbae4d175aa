// SPDX-License-Identifier: Apache-2.0
/**
 * The container images: built twice, unpacked as a node does, and started with a read-only root file system. Only arm64
 * images are not started: this machine may be unable to.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { goPrograms } from "@switchyard/go-programs";
import { cardModeSettings } from "@switchyard/plan";
import { findFreePorts, findWorkspaceRoot } from "@switchyard/testing";
import {
  buildImages,
  configOf,
  platformOf,
  readBlob,
  unpackImage,
  type Architecture,
  type BuiltImage,
} from "./built-images.ts";
import { startInImage, type InImageOptions } from "./run-in-image.ts";

const minutes = 60_000;
const architectures = ["amd64", "arm64"] as const;
const host: Architecture = process.arch === "arm64" ? "arm64" : "amd64";
const apps = [
  "operator",
  "webhook",
  "ovn-offload",
  "config-daemon",
  "device-plugin-config",
  "afxdp-device-plugin",
  "dra-driver",
  "eve-bridge",
] as const;
const { version } = JSON.parse(readFileSync(join(findWorkspaceRoot(), "package.json"), "utf8")) as { version: string };

/** Names of settings in the templates of mstconfig. */
const templateNames: Readonly<Record<string, string>> = {
  INTERNAL_CPU_MODEL: "internal_cpu_model",
  INTERNAL_CPU_PAGE_SUPPLIER: "page_supplier",
  INTERNAL_CPU_ESWITCH_MANAGER: "esw_manager",
  INTERNAL_CPU_IB_VPORT0: "ib_vport0",
  INTERNAL_CPU_OFFLOAD_ENGINE: "offload_engine",
};

/** A user ID as OpenShift assigns it. */
const anyUser = 1_000_770_000;

const missing = process.getuid?.() === 0 ? undefined : "buildah and mount namespaces need root";
if (missing !== undefined) process.stderr.write(`\n!!! SKIPPED: images: ${missing}\n\n`);

(missing === undefined ? describe : describe.skip)("the images", () => {
  let directory = "";
  let output = "";
  let images: readonly BuiltImage[] = [];
  const imageOf = (app: string) => {
    const image = images.find((candidate) => candidate.app === app);
    if (image === undefined) throw new Error(`no image of ${app}`);
    return image;
  };
  const rootOf = (app: string, architecture: Architecture = host) => join(directory, "root", architecture, app);

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "switchyard-images-"));
    chmodSync(directory, 0o755); // programs in images run as other users
    output = join(directory, "first");
    images = await buildImages(output, []);
    for (const image of images) {
      for (const architecture of architectures) {
        unpackImage(output, image, architecture, rootOf(image.app, architecture));
      }
    }
    const kubeconfig = join(directory, "kubeconfig");
    mkdirSync(kubeconfig);
    writeFileSync(join(kubeconfig, "config"), unreachableCluster);
  }, 30 * minutes);
  afterAll(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  function start(app: string, command: readonly string[], options: Partial<InImageOptions> = {}) {
    const { Env, User } = configOf(output, imageOf(app), host);
    const user = User === "0:0" ? 0 : anyUser;
    return startInImage(rootOf(app), { user, env: Env, ...options }, command);
  }
  const entryPoint = (app: string) => configOf(output, imageOf(app), host).Entrypoint;

  it("are one for each app", () => {
    expect(images.map(({ name }) => name).sort()).toEqual(apps.map((app) => `switchyard-${app}`).sort());
    for (const { tag, platforms } of images) {
      expect(tag).toBe(version);
      expect(platforms.map(({ architecture }) => architecture)).toEqual(architectures);
    }
  });

  it(
    "have the same digests when they are built again, by a user with another umask and time zone",
    async () => {
      const again = await buildImages(join(directory, "second"), ["operator", "config-daemon"], {
        umask: "077",
        timeZone: "Asia/Tokyo",
      });
      expect(again.map(({ name, digest }) => ({ name, digest }))).toEqual(
        ["operator", "config-daemon"].map((app) => ({ name: imageOf(app).name, digest: imageOf(app).digest })),
      );
    },
    20 * minutes,
  );

  it.each(architectures)("of %s stay below the limits of size: first 60 MB, more 5 MB, config daemon 85 MB", (name) => {
    const stored = new Set(platformOf(imageOf("operator"), name).layers.map(({ digest }) => digest));
    expect(platformOf(imageOf("operator"), name).size).toBeLessThanOrEqual(60e6);
    expect(platformOf(imageOf("config-daemon"), name).size).toBeLessThanOrEqual(85e6);
    for (const app of [
      "webhook",
      "ovn-offload",
      "device-plugin-config",
      "afxdp-device-plugin",
      "dra-driver",
      "eve-bridge",
    ]) {
      const more = platformOf(imageOf(app), name).layers.filter(({ digest }) => !stored.has(digest));
      expect(more.length).toBeLessThan(3); // of which one may be tools
      expect(more.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(5e6);
    }
  });

  it.each(apps)("of %s names its version, revision and licence, and its user", (app) => {
    const { Labels, User, Env, Cmd } = configOf(output, imageOf(app), host);
    expect(Labels).toMatchObject({
      "org.opencontainers.image.title": `switchyard-${app}`,
      "org.opencontainers.image.version": version,
      "org.opencontainers.image.licenses": "Apache-2.0",
      "org.opencontainers.image.source": expect.stringMatching(/^https:/),
      "org.opencontainers.image.revision": expect.stringMatching(/^[0-9a-f]{40}(?:-dirty)?$/),
      "org.opencontainers.image.created": expect.stringMatching(/^20\d\d-/),
    });
    expect(User).toBe(app === "config-daemon" ? "0:0" : "65532:65532");
    expect(Env).toContain("MALLOC_ARENA_MAX=1");
    expect(Cmd).toBeUndefined();
  });

  it.each(apps)(
    "of %s start with a read-only root file system and any user, and print the version",
    async (app) => {
      const { code, stdout, output: all } = await start(app, [...entryPoint(app), "--version"]).ended;
      expect({ code, all }).toEqual({ code: 0, all: `${app} ${version}\n` });
      expect(stdout).toBe(all);
    },
    2 * minutes,
  );

  it.each(["operator", "webhook", "ovn-offload", "config-daemon", "device-plugin-config"])(
    "of %s end with status 0 on SIGTERM, also while the API server cannot be reached",
    async (app) => {
      const node = ["config-daemon", "device-plugin-config"].includes(app) ? ["--node-name", "worker-1"] : [];
      const flags = ["--namespace", "switchyard", "--kubeconfig", "/tmp/config", ...node];
      const service = start(app, [...entryPoint(app), ...flags], {
        mounts: { [join(directory, "kubeconfig")]: "/tmp" },
      });
      await service.printed('"msg":"started"');
      service.signal("SIGTERM");
      const { code, output: all } = await service.ended;
      expect({ code, all }).toEqual({ code: 0, all: expect.stringContaining('"msg":"stopped"') });
    },
    2 * minutes,
  );

  it(
    "of eve-bridge installs a plugin that runs on the node, with the image's Node and libraries",
    async () => {
      const cni = join(directory, "cni");
      mkdirSync(cni);
      const options = { user: 0, mounts: { [cni]: "/tmp" } };
      const { code, output: all } = await start(
        "eve-bridge",
        [...entryPoint("eve-bridge"), "install", "--to", "/tmp"],
        options,
      ).ended;
      expect({ code, all }).toEqual({ code: 0, all: expect.any(String) });
      const { status, stdout } = spawnSync(join(cni, "eve-bridge"), [], {
        env: { PATH: process.env["PATH"], CNI_COMMAND: "VERSION" },
        input: '{"cniVersion":"1.0.0"}',
      });
      expect(status).toBe(0);
      expect(JSON.parse(stdout.toString())).toHaveProperty("supportedVersions");
    },
    3 * minutes,
  );

  it.each([
    { does: "reads firmware settings", command: ["mstconfig", "-v"], prints: "mstconfig, mstflint " },
    { does: "reads the privilege level of hosts", command: ["mstprivhost", "--version"], prints: "mstprivhost " },
    { does: "resets cards", command: ["mstfwreset", "--version"], prints: "mstfwreset " },
    { does: "runs programs of the host", command: ["chroot", "/", "busybox"], prints: "BusyBox " },
    {
      does: "lets administrators look around",
      command: [
        "bash",
        "-c",
        'ip link show lo | grep -c lo: && echo "$(ls /usr/bin/node | wc -l) program, bash $BASH_VERSION"',
      ],
      prints: "1\n1 program, bash 5.",
    },
  ])(
    "of the config daemon $does with $command.0",
    async ({ command: [program = "", ...args], prints }) => {
      const { code, output: all } = await start("config-daemon", [`/usr/bin/${program}`, ...args], {
        env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"], // as libs/host/src/linux/system/run-program.ts sets it
      }).ended;
      expect({ code, all }).toEqual({ code: 0, all: expect.stringContaining(prints) });
    },
    2 * minutes,
  );

  it(
    "of the config daemon have mstconfig with the settings of card modes that Switchyard sets (smartnic.md 7.1)",
    async () => {
      const script =
        "mstconfig gen_tlvs_file /tmp/all && busybox sed -n 's/^\\(nv_internal_cpu_conf .*\\)0$/\\11/p' /tmp/all >/tmp/one && " +
        "mstconfig gen_xml_template /tmp/one /tmp/template.xml && busybox cat /tmp/template.xml";
      const scratch = join(directory, "templates");
      mkdirSync(scratch);
      const { code, output: all } = await start("config-daemon", ["/usr/bin/busybox", "sh", "-c", script], {
        env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
        mounts: { [scratch]: "/tmp" },
      }).ended;
      expect({ code, all }).toEqual({ code: 0, all: expect.stringContaining("<nv_internal_cpu_conf>") });
      const legal = [...all.matchAll(/<!-- Legal Values:(\S+) -->\s*<(\w+)>/g)].map(([, values = "", name = ""]) => ({
        name,
        values: values.split("|").sort(),
      }));
      const ours = Object.entries(cardModeSettings).map(([name, values]) => ({
        name: templateNames[name],
        values: values.toSorted(),
      }));
      expect(legal).toEqual(expect.arrayContaining(ours));

      // The templates do not have the numbers.
      const database = new DatabaseSync(
        join(rootOf("config-daemon"), "usr/share/mstflint/mlxconfig_dbs/mlxconfig_host.db"),
        { readOnly: true },
      );
      const query = database.prepare("SELECT textual_values AS texts FROM params WHERE mlxconfig_name = ?");
      const numbers = Object.keys(cardModeSettings).map((name) => query.get(name)?.["texts"]);
      database.close();
      expect(numbers).toEqual(
        Object.values(cardModeSettings).map((values) => values.map((text, number) => `${text}=0x${number}`).join(",")),
      );
    },
    2 * minutes,
  );

  it("have a shell and other programs only where they are needed", () => {
    const programs = (app: string) => readdirSync(join(rootOf(app), "usr/bin"));
    for (const app of ["operator", "webhook", "device-plugin-config"]) expect(programs(app)).toEqual(["node"]);
    expect(programs("eve-bridge")).toEqual(["busybox", "node", "sh"]);
    expect(programs("dra-driver")).toEqual(["busybox", "chroot", "node"]);
    expect(programs("config-daemon")).toEqual(
      expect.arrayContaining(["bash", "chroot", "ip", "mstconfig", "mstfwreset", "node", "sh", "wc"]),
    );
  });

  describe.each(architectures)("of %s", (architecture) => {
    it.each(apps)("of %s contain machine code of this architecture only", (app) => {
      const root = rootOf(app, architecture);
      const machines = regularFiles(root).flatMap((path) => machineOf(join(root, path)) ?? []);
      expect(new Set(machines)).toEqual(new Set([architecture === "arm64" ? 183 : 62])); // EM_AARCH64, EM_X86_64
    });

    it.each(apps)("of %s have each file in the SBOM, with one package that contains it", (app) => {
      const root = rootOf(app, architecture);
      const { sbom } = platformOf(imageOf(app), architecture);
      const { files, packages, relationships } = JSON.parse(readFileSync(join(output, sbom), "utf8")) as Sbom;
      const digests = new Map(
        files.map(({ fileName, checksums }) => [
          fileName.replace("./", ""),
          checksums.find(({ algorithm }) => algorithm === "SHA256")?.checksumValue,
        ]),
      );
      const actual = new Map(regularFiles(root).map((path) => [path, sha256(readFileSync(join(root, path)))]));
      expect(Object.fromEntries(digests)).toEqual(Object.fromEntries(actual));

      const known = new Set(packages.map(({ SPDXID }) => SPDXID));
      for (const { SPDXID, fileName } of files) {
        const owners = relationships.filter(({ relatedSpdxElement }) => relatedSpdxElement === SPDXID);
        expect({ fileName, owners: owners.filter(({ spdxElementId }) => known.has(spdxElementId)).length }).toEqual({
          fileName,
          owners: 1,
        });
      }
      const names = packages.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(["node", "libc6", "libstdc++6", `switchyard-${app}`]));
      if (app === "config-daemon")
        expect(names).toEqual(expect.arrayContaining(["koffi", "mstflint", "busybox", "yaml"]));
      if (app === "webhook") expect(names).toEqual(expect.arrayContaining(["fastify", "ajv"]));
    });

    it.each(apps)("of %s have no link to a missing file", (app) => {
      const root = rootOf(app, architecture);
      const links = listAll(root).filter((path) => lstatSync(join(root, path)).isSymbolicLink());
      const broken = links.filter((path) => !existsSync(join(root, path)));
      expect(broken).toEqual([]);
      expect(links.filter((path) => relative(root, realpathSync(join(root, path))).startsWith(".."))).toEqual([]);
    });
  });

  it("have compiled code for this machine's architecture, where that is used", () => {
    const cached = apps.filter((app) => existsSync(join(rootOf(app, host), "app/compile-cache")));
    expect(cached).toEqual(["config-daemon"]);
    // One directory, whose name has the version, the architecture and the user.
    const [name = "", ...others] = readdirSync(join(rootOf("config-daemon", host), "app/compile-cache"));
    expect(others).toEqual([]);
    expect(name).toMatch(new RegExp(`^${process.version}-${process.arch}-[0-9a-f]+-0$`));
  });

  it("are the same programs for both architectures", () => {
    for (const app of apps) {
      const bundle = (architecture: Architecture) => {
        const root = join(rootOf(app, architecture), "app");
        return Object.fromEntries(
          regularFiles(root)
            .filter((path) => !/^(?:node_modules\/@koromix|compile-cache)\//.test(path))
            .map((path) => [path, sha256(readFileSync(join(root, path)))]),
        );
      };
      expect(bundle("arm64")).toEqual(bundle("amd64"));
    }
  });

  it(
    "are pushed to a registry with the digests of images.json",
    async () => {
      const crane = join(await goPrograms("crane"), "crane");
      const [port = 0] = await findFreePorts(1);
      const registry = spawn(crane, ["registry", "serve", "--address", `127.0.0.1:${port}`], { stdio: "ignore" });
      try {
        const [image] = await buildImages(join(directory, "pushed"), ["operator", "--push", `localhost:${port}`]);
        const reference = `localhost:${port}/switchyard-operator@${image?.digest ?? ""}`;
        const { stdout } = spawnSync(crane, ["manifest", reference]);
        expect(sha256(stdout)).toBe(image?.digest.replace("sha256:", ""));
        expect(readBlob(output, imageOf("operator"), imageOf("operator").digest)).toEqual(
          JSON.parse(stdout.toString()),
        );
      } finally {
        registry.kill();
      }
    },
    10 * minutes,
  );
});

interface Sbom {
  readonly packages: readonly { readonly SPDXID: string; readonly name: string }[];
  readonly files: readonly {
    readonly SPDXID: string;
    readonly fileName: string;
    readonly checksums: readonly { readonly algorithm: string; readonly checksumValue: string }[];
  }[];
  readonly relationships: readonly { readonly spdxElementId: string; readonly relatedSpdxElement: string }[];
}

/** Nothing listens on port 1. */
const unreachableCluster = `apiVersion: v1
kind: Config
clusters: [{ name: none, cluster: { server: "https://127.0.0.1:1", insecure-skip-tls-verify: true } }]
users: [{ name: none, user: { token: none } }]
contexts: [{ name: none, context: { cluster: none, user: none } }]
current-context: none
`;

/** All paths below the root. readdir's option "recursive" would follow links to directories. */
function listAll(root: string, below = ""): readonly string[] {
  return readdirSync(join(root, below), { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name);
    return entry.isDirectory() ? [path, ...listAll(root, path)] : [path];
  });
}

function regularFiles(root: string): readonly string[] {
  return listAll(root).filter((path) => lstatSync(join(root, path)).isFile());
}

/** e_machine of an ELF file; undefined for other files. */
function machineOf(file: string): number | undefined {
  const content = readFileSync(file);
  return content.subarray(0, 4).toString("latin1") === "\x7fELF" ? content.readUInt16LE(18) : undefined;
}

function sha256(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
