# SPDX-License-Identifier: LGPL-2.1-or-later
# A module for NixOS. It has never been run.
{ config, lib, pkgs, ... }:
let
  cfg = config.services.drivekeep;

  # An error or a warning in the file prevents the build of the system.
  checked = name: text:
    let file = pkgs.writeText "${name}.conf" text;
    in pkgs.runCommand "checked-${name}.conf" { } ''
      ${cfg.package}/bin/drivekeep check --strict ${file}
      cp ${file} $out
    '';
in
{
  options.services.drivekeep = {
    enable = lib.mkEnableOption "drivekeep, which keeps drive settings";

    package = lib.mkOption {
      type = lib.types.package;
      description = "The package of drivekeep, built with -Dprefix=$out and -Dsysconfdir=$out/etc. Nixpkgs does not have it yet.";
    };

    files = lib.mkOption {
      type = lib.types.attrsOf lib.types.lines;
      default = { };
      example = { "50-disks" = ''drives = ( { match = { transport = "sata"; }; apm = 128; } );''; };
      description = "Files in /etc/drivekeep/drivekeep.conf.d: names without .conf, and contents.";
    };
  };

  config = lib.mkIf cfg.enable {
    environment.systemPackages = [ cfg.package ];
    environment.etc = lib.mapAttrs'
      (name: text: lib.nameValuePair "drivekeep/drivekeep.conf.d/${name}.conf" { source = checked name text; })
      cfg.files;

    systemd.packages = [ cfg.package ];
    systemd.tmpfiles.packages = [ cfg.package ];
    services.udev.packages = [ cfg.package ];
    services.dbus.packages = [ cfg.package ];

    users.users.drivekeep = { isSystemUser = true; group = "drivekeep"; };
    users.groups.drivekeep = { };

    systemd.services = lib.mkMerge [
      {
        drivekeep = {
          wantedBy = [ "multi-user.target" ];
          aliases = [ "drivekeep-udev.service" ];
          reloadTriggers = lib.mapAttrsToList checked cfg.files;
        };
      }
      # The units run sleep, rm, touch, mkdir, rmdir, nsenter and sh without absolute paths.
      (lib.genAttrs [ "drivekeep" "drivekeep-tracer" "drivekeep-metrics" "drivekeep-alert" ] (_: {
        serviceConfig.ExecSearchPath = lib.makeBinPath [ pkgs.coreutils pkgs.util-linux pkgs.bash ];
      }))
      # The alert script runs jq.
      { drivekeep-alert.path = [ pkgs.jq ]; }
    ];
  };
}
