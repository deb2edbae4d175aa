// SPDX-License-Identifier: Apache-2.0
/**
 * ConfigDrive is the port for the config drive of an OpenStack instance: a small read-only disk with the label config-2 that
 * contains the metadata of the instance. It is read without being mounted.
 */

/** Rejects with HostError only. */
export interface ConfigDrive {
  /**
   * Returns the text of a file by its path on the drive: "openstack/2018-08-27/meta_data.json". Returns undefined if the
   * machine has no config drive, or the drive has no such file. EBADMSG if it is not an ISO 9660 file system.
   */
  readText(path: string): Promise<string | undefined>;
}
