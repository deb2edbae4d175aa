#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
/**
 * A CNI plugin that does what the documentation of accelerated-bridge-cni 0.6.0 says, for tests: that plugin is not available as a Go
 * module. It is stricter than the plugin, which ignores keys that it does not know (docs/upstream/cnis.md 2).
 * It needs ip, bridge and nsenter, and root.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const { CNI_COMMAND, CNI_CONTAINERID, CNI_IFNAME, CNI_NETNS = "", CNI_PATH = "" } = process.env;
const states = "/var/lib/cni/accelerated-bridge";
const devices = "/sys/bus/pci/devices";
const links = "/sys/class/net";

const isNumber = (from, to) => (value) => Number.isInteger(value) && value >= from && value <= to;
const isText = (value) => typeof value === "string";
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isRange = (value) =>
  isObject(value) &&
  Object.entries(value).every(([key, id]) => ["id", "minID", "maxID"].includes(key) && isNumber(1, 4094)(id)) &&
  (value.id !== undefined || (value.minID !== undefined && value.maxID !== undefined && value.minID <= value.maxID));

/** Keys of the configuration. Multus adds deviceID and pciBusID, and prevResult to that of a DEL (CNI specification 1.0.0, section 4). */
const schema = {
  cniVersion: isText,
  name: isText,
  type: (value) => value === "accelerated-bridge",
  bridge: (value) => isText(value) && value.split(",").every((name) => /^[^ /]{1,15}$/.test(name.trim())),
  vlan: isNumber(0, 4094),
  trunk: (value) => Array.isArray(value) && value.length > 0 && value.every(isRange),
  setUplinkVlan: (value) => typeof value === "boolean",
  mtu: isNumber(0, 65535),
  mac: isText,
  debug: (value) => typeof value === "boolean",
  deviceID: (value) => isText(value) && existsSync(join(devices, value)),
  pciBusID: isText,
  capabilities: isObject,
  runtimeConfig: isObject,
  ipam: isObject,
  prevResult: (value) => CNI_COMMAND !== "ADD" && isObject(value),
};

class CniError extends Error {}

function readConfig() {
  const text = readFileSync(0, "utf8");
  const config = JSON.parse(text);
  for (const [key, value] of Object.entries(config)) {
    if (!schema[key]?.(value)) throw new CniError(`${key}: ${JSON.stringify(value)} is not as documented`);
  }
  if (config.deviceID === undefined) throw new CniError("VF pci addr is required");
  return { text, config };
}

function run(program, ...args) {
  return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

const ip = (...args) => run("ip", ...args);
const inNamespace = (path, ...command) => run("nsenter", `--net=${path}`, ...command);

function portName(link) {
  try {
    return readFileSync(join(links, link, "phys_port_name"), "utf8").trim();
  } catch {
    return "";
  }
}

/** Returns the uplink and the representor of a VF. */
function portsOf(deviceID) {
  const pf = join(devices, deviceID, "physfn");
  const number = readdirSync(pf).find(
    (name) => /^virtfn\d+$/.test(name) && basename(readlinkSync(join(pf, name))) === deviceID,
  );
  const ports = readdirSync(join(pf, "net"));
  const uplink = ports.find((name) => /^p\d+$/.test(portName(name)));
  const representor = ports.find((name) =>
    new RegExp(`^pf\\d+vf${number?.slice("virtfn".length)}$`).test(portName(name)),
  );
  if (uplink === undefined || representor === undefined) throw new CniError(`${deviceID} has no representor`);
  return { uplink, representor };
}

/** One name is used as it is. Among several, the bridge of the uplink must be one of them. */
function chooseBridge({ bridge = "cni0" }, uplink) {
  const names = bridge.split(",").map((name) => name.trim());
  if (names.length === 1) return names[0];
  for (let link = uplink; existsSync(join(links, link, "master"));) {
    link = basename(readlinkSync(join(links, link, "master")));
    if (!existsSync(join(links, link, "bridge"))) continue;
    if (names.includes(link)) return link;
    throw new CniError(`uplink ${uplink} is attached to ${link} bridge, expected ${names.join(", ")}`);
  }
  throw new CniError(`uplink ${uplink} is attached to no bridge`);
}

function vlansOf({ vlan = 0, trunk = [] }) {
  const tagged = trunk.flatMap(({ id, minID, maxID }) => [
    ...(id === undefined ? [] : [id]),
    ...(minID === undefined ? [] : Array.from({ length: maxID - minID + 1 }, (_, index) => minID + index)),
  ]);
  return { vlan, tagged };
}

function setVlans(config, representor, uplink) {
  const { vlan, tagged } = vlansOf(config);
  if (vlan > 1 || tagged.length > 0) run("bridge", "vlan", "del", "dev", representor, "vid", "1");
  for (const id of tagged) run("bridge", "vlan", "add", "dev", representor, "vid", `${id}`);
  if (vlan > 0) run("bridge", "vlan", "add", "dev", representor, "vid", `${vlan}`, "pvid", "untagged");
  if (config.setUplinkVlan === true) {
    for (const id of [...(vlan > 0 ? [vlan] : []), ...tagged])
      run("bridge", "vlan", "add", "dev", uplink, "vid", `${id}`);
  }
}

const stateFile = join(states, `${CNI_CONTAINERID}-${CNI_IFNAME}`);

function callIpam({ text, config }) {
  if (config.ipam?.type === undefined) return {};
  const directory = CNI_PATH.split(":").find((path) => existsSync(join(path, config.ipam.type)));
  if (directory === undefined) throw new CniError(`no plugin ${config.ipam.type} in ${CNI_PATH}`);
  const output = execFileSync(join(directory, config.ipam.type), { input: text, encoding: "utf8" });
  return output.trim() === "" ? {} : JSON.parse(output);
}

function add(input) {
  const { config } = input;
  const { uplink, representor } = portsOf(config.deviceID);
  const bridge = chooseBridge(config, uplink);
  const [vf] = readdirSync(join(devices, config.deviceID, "net"));
  if (vf === undefined) throw new CniError(`${config.deviceID} has no interface`);
  mkdirSync(states, { recursive: true });
  writeFileSync(stateFile, JSON.stringify({ vf, representor }));

  ip("link", "set", representor, "master", bridge);
  setVlans(config, representor, uplink);
  if (config.mtu) for (const link of [representor, vf]) ip("link", "set", link, "mtu", `${config.mtu}`);
  ip("link", "set", representor, "up");
  const mac = config.runtimeConfig?.mac ?? config.mac;
  if (mac) ip("link", "set", uplink, "vf", portName(representor).replace(/^pf\d+vf/, ""), "mac", mac);
  ip("link", "set", vf, "down", "netns", CNI_NETNS);
  inNamespace(CNI_NETNS, "ip", "link", "set", vf, "name", CNI_IFNAME);
  inNamespace(CNI_NETNS, "ip", "link", "set", CNI_IFNAME, "up");

  const { ips = [], routes = [] } = callIpam(input);
  for (const { address } of ips) inNamespace(CNI_NETNS, "ip", "address", "add", address, "dev", CNI_IFNAME);
  const [{ address }] = JSON.parse(inNamespace(CNI_NETNS, "ip", "-json", "link", "show", "dev", CNI_IFNAME));
  return {
    cniVersion: config.cniVersion,
    interfaces: [{ name: representor }, { name: CNI_IFNAME, mac: address, sandbox: CNI_NETNS }],
    ips: ips.map((each) => ({ ...each, interface: 1 })),
    routes,
  };
}

function del(input) {
  if (!existsSync(stateFile)) return;
  const { vf, representor } = JSON.parse(readFileSync(stateFile, "utf8"));
  callIpam(input);
  ip("link", "set", representor, "nomaster");
  if (CNI_NETNS !== "" && existsSync(CNI_NETNS)) {
    inNamespace(CNI_NETNS, "ip", "link", "set", CNI_IFNAME, "down");
    inNamespace(CNI_NETNS, "ip", "link", "set", CNI_IFNAME, "name", vf, "netns", "1");
  }
  rmSync(stateFile);
}

try {
  if (CNI_COMMAND === "VERSION") {
    const supportedVersions = ["0.3.0", "0.3.1", "0.4.0", "1.0.0"];
    process.stdout.write(JSON.stringify({ cniVersion: "1.0.0", supportedVersions }));
  } else if (CNI_COMMAND === "ADD") process.stdout.write(JSON.stringify(add(readConfig())));
  else if (CNI_COMMAND === "DEL") del(readConfig());
} catch (error) {
  const msg = `${error.message}${error.stderr ? `: ${error.stderr}` : ""}`;
  process.stdout.write(JSON.stringify({ cniVersion: "1.0.0", code: 999, msg }));
  process.exitCode = 1;
}
