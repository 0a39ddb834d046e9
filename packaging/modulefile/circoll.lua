-- Module file of Circoll for Lmod. Copy it to MODULEPATH/circoll/VERSION.lua and edit the settings below.
-- docs/admin/administrators.md explains them. packaging/modulefile/circoll is the same in Tcl.

-- Settings of the site.
local prefix     = "/opt/circoll/0.2.0" -- where Circoll is installed (CMAKE_INSTALL_PREFIX)
local mpi        = "openmpi"            -- the MPI for which it was built: openmpi, mpich or abi
local mpi_module = ""                   -- the module of that MPI, such as "openmpi/4.1.6"; "" requires none
local preload    = false                -- true: serves every program of that MPI, without `circoll run`
local reports    = ""                   -- a directory that all users can write: a report of each job; "" writes none
local off        = false                -- true: every call is served by the MPI library itself

help([[
Circoll makes the collective operations of MPI programs faster without changing the programs.

  mpirun -np 4 circoll run -- ./program      runs a program with Circoll
  CIRCOLL_REPORT=1 ...                       shows which calls were served
  circoll doctor                             shows what is used on this node
]])
whatis("Name: Circoll")
whatis("Description: Faster collective operations for MPI programs")

if mpi_module ~= "" then
  prereq(mpi_module)
end

-- The library directory differs among distributions.
local libdir, dropin
for _, name in ipairs({"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"}) do
  local file = pathJoin(prefix, name, "circoll", mpi, "libcircoll-mpi.so")
  if not dropin and isFile(file) then
    libdir, dropin = pathJoin(prefix, name), file
  end
end
if not dropin then
  LmodError("there is no drop-in for " .. mpi .. " below " .. prefix .. ": check prefix and mpi in this module file")
end

-- man finds the manual pages by PATH. No variable of Circoll names the prefix: the tool finds its files by itself, and
-- warns of variables with CIRCOLL_ in front that it does not know.
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("CMAKE_PREFIX_PATH", prefix)
prepend_path("PKG_CONFIG_PATH", pathJoin(libdir, "pkgconfig"))
if isFile(pathJoin(libdir, "libcircoll.so")) then
  prepend_path("LD_LIBRARY_PATH", libdir)
end
if preload then
  prepend_path("LD_PRELOAD", dropin)
end
if off then
  setenv("CIRCOLL_POLICY", "native")
end
if reports ~= "" then
  -- The drop-in replaces %j by the job, and %p by a process id that tells its runs apart.
  local job = os.getenv("SLURM_JOB_ID") or os.getenv("PBS_JOBID") or os.getenv("LSB_JOBID")
  if job then
    setenv("CIRCOLL_REPORT", pathJoin(reports, "%j.%p.json"))
  end
end
