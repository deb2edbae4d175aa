// SPDX-License-Identifier: Apache-2.0
/**
 * pluginRefusals returns what the device plugin of afxdp-plugins-for-kubernetes refuses in a configuration file, in its own words.
 * The words were observed: redhat-et/afxdp-plugins-for-kubernetes at b4a5035 was run with each refused value on 2026-11-22. The
 * code is independent of the renderer, which it judges.
 * Usage: `expect(pluginRefusals(JSON.parse(text))).toEqual([]);`
 */

type Json = Readonly<Record<string, unknown>>;

/** Empty if the plugin starts. It ignores unknown members and the case of names of members. */
export function pluginRefusals(file: unknown): readonly string[] {
  const config = object(file);
  const words: string[] = [];
  const level = config["loglevel"];
  if (isSet(level) && !["debug", "info", "warning", "error"].includes(String(level))) {
    words.push("LogLevel: must be [debug info warning error]");
  }
  const logFile = config["logfile"];
  if (isSet(logFile) && !/^[a-zA-Z0-9_-]+(\.log|\.txt)$/.test(String(logFile))) {
    words.push("LogFile: must be a valid .log or .txt filename");
  }
  for (const pool of list(config["pools"])) words.push(...(pool === null ? ["cannot be null"] : ofPool(object(pool))));
  return words;
}

function ofPool(pool: Json): readonly string[] {
  const { name, mode, uid, udstimeout: timeout } = pool;
  const words: string[] = [];
  if (!isSet(name)) words.push("Name: Pool must have a name");
  else if (!/^[a-zA-Z0-9]*$/.test(String(name))) words.push("Name: Pool name must only contain letters and numbers");
  else if (String(name).length > 20) words.push("Name: Pool name must be between 1 and 20 characters");
  if (!isSet(mode)) words.push("Mode: Plugin must have a mode");
  else if (mode !== "primary" && mode !== "cdq") words.push("Mode: Plugin mode must be one of [primary cdq]");
  const [devices, drivers, nodes] = [list(pool["devices"]), list(pool["drivers"]), list(pool["nodes"])];
  if (devices.length + drivers.length + nodes.length === 0) words.push("Pool must contain devices, drivers or nodes");
  if (isSet(timeout) && timeout !== -1 && !isWithin(timeout, 30, 300)) {
    words.push("UdsTimeout: UDS socket timeout must be -1, 0, or between 30 and 300 seconds");
  }
  if (isSet(uid) && Number(uid) < 1_000) words.push("UID: must be no less than 1000");
  if (isSet(uid) && Number(uid) > 256_000) words.push("UID: must be no greater than 256000");
  words.push(...devices.flatMap((one) => ofDevice(object(one))), ...drivers.flatMap((one) => ofDriver(object(one))));
  words.push(...nodes.flatMap((one) => ofNode(object(one))));
  return words;
}

function ofDevice({ name, pci, mac, secondary }: Json): readonly string[] {
  const words: string[] = [];
  const given = [name, pci, mac].filter(isSet);
  if (given.length === 0) words.push("Device must be identified by either name, pci, or mac");
  if (given.length > 1) words.push("Only one form of device identification can be used: name, pci, or mac");
  if (isSet(name) && !/^[a-zA-Z0-9_-]{1,50}$/.test(String(name))) {
    words.push("Device name must only contain letters, numbers, hyphen and underscore");
  }
  if (isSet(pci) && !/[0-9a-f]{4}:[0-9a-f]{2,4}:[0-9a-f]{2}\.[0-9a-f]/.test(String(pci))) {
    words.push("Device PCI must be a valid BDF PCI address");
  }
  if (isSet(mac) && !/^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$/.test(String(mac))) {
    words.push("Device MAC must be a valid MAC address");
  }
  return [...words, ...ofSecondary(secondary)];
}

function ofDriver({ name, primary, secondary, excludedevices: excluded }: Json): readonly string[] {
  const words: string[] = [];
  if (!isSet(name)) words.push("Driver must have a name");
  else if (!/^[a-zA-Z0-9_-]{1,50}$/.test(String(name))) {
    words.push("Driver name must only contain letters, numbers, hyphen and underscore");
  }
  if (isSet(primary) && !isWithin(primary, 1, 10)) {
    words.push("Number of primary devices must be between 1 and 100");
  }
  return [...words, ...ofSecondary(secondary), ...list(excluded).flatMap((one) => ofDevice(object(one)))];
}

function ofNode({ hostname, devices, drivers }: Json): readonly string[] {
  const words: string[] = [];
  if (!isSet(hostname)) words.push("Node must have a hostname");
  else if (!/^[a-zA-Z0-9-]{1,63}$/.test(String(hostname))) {
    words.push("Node hostname must be a valid Linux hostname");
  }
  if (list(devices).length + list(drivers).length === 0) words.push("Node must contain devices or drivers");
  return [
    ...words,
    ...list(devices).flatMap((one) => ofDevice(object(one))),
    ...list(drivers).flatMap((one) => ofDriver(object(one))),
  ];
}

function ofSecondary(secondary: unknown): readonly string[] {
  if (!isSet(secondary) || isWithin(secondary, 1, 64)) return [];
  return ["Number of secondary devices must be between 1 and 1000"];
}

/** Empty values count as absent. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "" && value !== 0;
}

function isWithin(value: unknown, least: number, most: number): boolean {
  return typeof value === "number" && least <= value && value <= most;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function object(value: unknown): Json {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(entries.map(([key, each]): [string, unknown] => [key.toLowerCase(), each]));
}
