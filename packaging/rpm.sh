# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by packaging/build: builds the packages for Fedora from packaging/rpm. Build dependencies in the spec are not checked, as Debian's
# rpm does not know the installed packages.

tools="gcc file rpm rpmlint debugedit elfutils xz-utils"
format_files='\./usr/share/(doc/drivekeep/README\.md|licenses/drivekeep(-tune)?/LICENSE)|\./usr/lib/\.build-id/.*'

build_packages() {
        make_top
        inside "cd /build && rpmbuild -ba --noclean --nodeps --load=macros ${nocheck:+--without=check} \
                --define='_topdir /build' --define='_sourcedir /build' drivekeep.spec" "the package could not be built"
        inside 'cd /build && rpmlint --strict --config rpmlint.toml drivekeep.spec SRPMS/*.rpm RPMS/*/*.rpm' "rpmlint has complaints"
        cat "$scratch/log"
        compare_files "/build/BUILD/drivekeep-$version-build/drivekeep-$version/redhat-linux-build" \
                "for p in /build/RPMS/*/drivekeep{,-tune}-$version-*.rpm; do rpm2archive - <\$p | tar -xz || exit; done"
        mapfile -t results < <(find "$top" -name '*.rpm')
}
