#!/usr/bin/env bash
# Deploys the templates beside it with the AWS CLI alone. parameters.md lists the parameters.
set -euo pipefail

usage() {
  cat <<'TEXT'
./deploy.sh --bucket BUCKET [--prefix PREFIX/] [--region REGION] [--dry-run | --links] [Name=value ...]

  --bucket   S3 bucket of the region, for the assets; the same one for every deployment
  --prefix   what the keys begin with; default: hyperpod-cdk/VERSION/
  --region   default: the region of the AWS CLI
  --dry-run  check everything, print the commands, change nothing
  --links    upload, then print a link for each stack that opens the console's form, filled in
TEXT
}

refuse() {
  echo "$*" >&2
  exit 2
}

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

manifest() { # KEY: the text that it has in the manifest
  sed -n "s/^ \"$1\": \"\(.*\)\",\$/\1/p" "$folder/manifest.json"
}

parameters_of() { # STACK: the names of its parameters
  sed -n '/^ "Parameters": {$/,/^ }/s/^  "\([A-Za-z0-9]*\)": {$/\1/p' "$folder/templates/$1.json"
}

last_line() { # the reason in what the AWS CLI said
  sed '/^[[:space:]]*$/d' | tail -n 1 | sed 's/^aws: //'
}

bucket='' prefix='' region='' mode=deploy overrides=()
while [ $# -gt 0 ]; do
  case $1 in
    --bucket | --prefix | --region)
      [ $# -ge 2 ] || refuse "$1: needs a value; ./deploy.sh --help"
      case $1 in
        --bucket) bucket=$2 ;;
        --prefix) prefix=$2 ;;
        --region) region=$2 ;;
      esac
      shift
      ;;
    --dry-run) mode=dry-run ;;
    --links) mode=links ;;
    --help | -h)
      usage
      exit 0
      ;;
    *=*) overrides+=("$1") ;;
    *) refuse "$1: is neither an option nor Name=value; ./deploy.sh --help" ;;
  esac
  shift
done

shown() { # TEXT: in one line, without what a terminal obeys
  printf %s "${1//[[:cntrl:]]/?}"
}

[ -f "$folder/manifest.json" ] || refuse "manifest.json: is missing; take the whole folder, or make it again with \`hyperpod-cdk templates\`"
version=$(manifest version)
prefix=${prefix:-hyperpod-cdk/$version/}
[ -n "$bucket" ] || refuse "--bucket: is missing; name an S3 bucket of the region, which gets the assets"
[[ $bucket =~ ^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$ ]] || refuse "--bucket: '$(shown "$bucket")' must be the name of a bucket: 3 to 63 lower-case letters, digits, dots and hyphens"
[[ $prefix =~ ^([A-Za-z0-9_-][A-Za-z0-9._-]*/)*$ ]] || refuse "--prefix: '$(shown "$prefix")' must be names of letters, digits and ._- with a slash after each, and no dot first"

tags=()
while IFS= read -r line; do tags+=("$line"); done < <(
  sed -n '/^ "tags": {$/,/^ }/s/^  "\(.*\)": "\(.*\)",\{0,1\}$/\1=\2/p' "$folder/manifest.json"
)

sum() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1; }
listed=$(sed -n 's/^  "\([^"]*\)": "\([0-9a-f]\{64\}\)",\{0,1\}$/\2 \1/p' "$folder/manifest.json")
while read -r expected file; do
  [ -f "$folder/$file" ] || refuse "$file: is missing; take the whole folder, or make it again with \`hyperpod-cdk templates\`"
  [ "$(sum "$folder/$file")" = "$expected" ] || refuse "$file: is not the file that manifest.json lists; take the whole folder again"
done <<<"$listed"
while IFS= read -r -d '' file; do
  file=${file#"$folder/"}
  [ "$file" = manifest.json ] || cut -d ' ' -f 2- <<<"$listed" | grep -Fqx -- "$file" ||
    refuse "$(shown "$file"): is not in manifest.json; remove it, or take the whole folder again"
done < <(find "$folder" ! -type d -print0)

stacks=(platform)
for file in "$folder"/templates/*.json; do
  name=$(basename "$file" .json)
  [ "$name" = platform ] || stacks+=("$name")
done

# The last one given counts.
given() { # PARAMETER: its value, if it is given
  local each value=''
  for each in ${overrides[@]+"${overrides[@]}"}; do
    [ "${each%%=*}" != "$1" ] || value=${each#*=}
  done
  echo "$value"
}

all_parameters=$(for stack in "${stacks[@]}"; do parameters_of "$stack"; done | sort -u)
for each in ${overrides[@]+"${overrides[@]}"}; do
  name=${each%%=*}
  [[ $each != *[[:cntrl:]]* ]] || refuse "$(shown "$name"): a value is one line of text, and this one has '$(shown "${each#*=}")'"
  case $name in
    AssetsBucket | AssetsPrefix) refuse "$name: comes from --bucket and --prefix; leave it out" ;;
  esac
  grep -Fqx -- "$name" <<<"$all_parameters" || refuse "$name: is not a parameter of these templates; parameters.md lists them"
done
deployment=$(given DeploymentName)
deployment=${deployment:-$(manifest deployment)}
# The parameter's own pattern is checked by CloudFormation, after this has been part of commands.
longest=$(sed -n '/^  "DeploymentName": {$/,/^  }/s/^   "MaxLength": \([0-9]*\).*/\1/p' "$folder/templates/platform.json")
[[ $deployment =~ ^[a-z][a-z0-9-]*$ && ${#deployment} -le $longest ]] ||
  refuse "DeploymentName: '$deployment' must be at most $longest lower-case letters, digits and hyphens, and a letter first, such as ml"

command -v aws >/dev/null || refuse "aws: is not installed; https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html"
region=${region:-${AWS_REGION:-${AWS_DEFAULT_REGION:-$(aws configure get region || true)}}}
[ -n "$region" ] || refuse "--region: is missing, and the AWS CLI has none; give one, such as --region us-west-2"
[[ $region =~ ^[a-z]+(-[a-z]+)+-[0-9]+$ ]] || refuse "--region: '$(shown "$region")' must be a region's name, such as us-west-2"
export AWS_REGION=$region AWS_DEFAULT_REGION=$region AWS_PAGER=''

said=$(aws sts get-caller-identity --query Account --output text 2>&1) ||
  refuse "AWS takes no credentials of yours: $(last_line <<<"$said"); set AWS_PROFILE, or log in"
account=$said
home=$(aws s3api get-bucket-location --bucket "$bucket" --expected-bucket-owner "$account" --query LocationConstraint --output text 2>&1) ||
  refuse "--bucket: $bucket must be a bucket of account $account: $(last_line <<<"$home"); \`aws s3 mb s3://$bucket --region $region\` makes one"
case $home in
  None | null) home=us-east-1 ;;
  EU) home=eu-west-1 ;;
esac
[ "$home" = "$region" ] || refuse "--bucket: $bucket is in $home, but Lambda takes code from a bucket of $region only; name another bucket"

deployed() { # STACK PARAMETER: Name=value as the stack has it; nothing if there is no stack
  aws cloudformation describe-stacks --stack-name "$deployment-$1" --output text 2>/dev/null \
    --query "Stacks[0].Parameters[?ParameterKey=='$2'].join('=', [ParameterKey, ParameterValue])" || true
}
for name in $(manifest fixed); do
  for each in ${overrides[@]+"${overrides[@]}"}; do
    [ "${each%%=*}" = "$name" ] || continue
    before=$(deployed platform "$name")
    [ -z "$before" ] || [ "$before" = "$each" ] ||
      refuse "$each: the deployment has $before, which cannot be changed: what is in it would be replaced; leave it out, or deploy under another DeploymentName"
  done
done

values_for() { # STACK: a line Name=value for each parameter that is given
  local name value
  for name in $(parameters_of "$1"); do
    case $name in
      AssetsBucket) value=$bucket ;;
      AssetsPrefix) value=${prefix}assets/ ;;
      DeploymentName) value=$deployment ;;
      *) value=$(given "$name") ;;
    esac
    [ -z "$value" ] || echo "$name=$value"
  done
}

run() { # a command that changes something
  if [ "$mode" = dry-run ]; then
    echo "+ $(printf '%q ' "$@")"
  else
    "$@"
  fi
}

encoded() { # TEXT: as a URL has it
  local text=$1 index character
  for ((index = 0; index < ${#text}; index++)); do
    character=${text:index:1}
    case $character in
      [A-Za-z0-9._~-]) printf %s "$character" ;;
      *) printf %%%02X "'$character" ;;
    esac
  done
}

link() { # STACK: a URL of the console's form
  local console=console.aws.amazon.com suffix=amazonaws.com line query
  case $region in
    cn-*) console=console.amazonaws.cn suffix=amazonaws.com.cn ;;
    us-gov-*) console=console.amazonaws-us-gov.com ;;
  esac
  query="templateURL=$(encoded "https://$bucket.s3.$region.$suffix/${prefix}templates/$1.json")"
  query+="&stackName=$(encoded "$deployment-$1")"
  while IFS= read -r line; do
    query+="&param_${line%%=*}=$(encoded "${line#*=}")"
  done < <(values_for "$1")
  echo "https://$console/cloudformation/home?region=$region#/stacks/quickcreate?$query"
}

settled() { # STACK: its status, once CloudFormation is done with it
  local status
  while status=$(aws cloudformation describe-stacks --stack-name "$1" --output text --query 'Stacks[0].StackStatus'); do
    case $status in
      *_IN_PROGRESS) sleep 30 ;;
      *) break ;;
    esac
  done
  echo "${status:-unknown}"
}

deploy() { # STACK
  local stack="$deployment-$1" line values=() given=(${tags[@]+"${tags[@]}"}) said status=''
  # CloudFormation would hand them on to node groups, which take no other ones with another launch template.
  if [[ $1 == node-groups ]]; then given=(); fi
  while IFS= read -r line; do values+=("$line"); done < <(values_for "$1")
  # A template whose key in the bucket is taken is uploaded anyway. Roles may have names of their own:
  # https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
  if ! said=$(
    run aws cloudformation deploy --stack-name "$stack" --template-file "$folder/templates/$1.json" \
      --s3-bucket "$bucket" --s3-prefix "${prefix}deployed" --force-upload --capabilities CAPABILITY_NAMED_IAM \
      --no-fail-on-empty-changeset ${given[@]+--tags "${given[@]}"} \
      --parameter-overrides ${values[@]+"${values[@]}"} 2>&1 >&3
  ); then
    # The AWS CLI says this after an hour, too, while CloudFormation goes on.
    if [[ $said == *"Failed to create/update the stack"* ]]; then status=$(settled "$stack"); fi
    case $status in
      CREATE_COMPLETE | UPDATE_COMPLETE) echo "Successfully created/updated stack - $stack" ;;
      unknown)
        echo "$stack: CloudFormation may go on with it, and AWS no longer answers; aws cloudformation describe-stacks --stack-name $stack" >&2
        return 1
        ;;
      *)
        printf '%s\n' "$said" "$stack: did not deploy; its latest failures, if it had begun:" >&2
        aws cloudformation describe-stack-events --stack-name "$stack" --max-items 200 --output text \
          --query "StackEvents[?contains(ResourceStatus, 'FAILED')].[LogicalResourceId, ResourceStatusReason]" \
          2>/dev/null | grep -v 'Resource creation cancelled' | head -n 3 >&2 || true
        return 1
        ;;
    esac
  elif [ -n "$said" ]; then
    printf '%s\n' "$said" >&2
  fi
  case " $(manifest protected) " in
    *" $1 "*) run aws cloudformation update-termination-protection --stack-name "$stack" \
      --enable-termination-protection --output text --query "'Protected from deletion'" ;;
  esac
}

encoded_sum() { # FILE: its SHA-256 sum as S3 has it
  printf %b "$(sum "$1" | sed 's/../\\x&/g')" | base64
}

# S3 itself computes the checksum of what an object holds.
upload() { # FILE KEY: if the bucket does not have it
  local expected held
  expected=$(encoded_sum "$1")
  held=$(aws s3api head-object --bucket "$bucket" --expected-bucket-owner "$account" --key "$2" --checksum-mode ENABLED --query ChecksumSHA256 --output text 2>/dev/null) || held=''
  [ "$held" = "$expected" ] ||
    run aws s3api put-object --bucket "$bucket" --expected-bucket-owner "$account" --key "$2" --body "$1" --checksum-sha256 "$expected" --output text --query "'$2'"
}

echo "Deployment $deployment in account $account, region $region; assets in s3://$bucket/$prefix"
for file in "$folder"/assets/*; do upload "$file" "${prefix}assets/$(basename "$file")"; done
if [ "$mode" = links ]; then
  for file in "$folder"/templates/*; do upload "$file" "${prefix}templates/$(basename "$file")"; done
  for stack in "${stacks[@]}"; do link "$stack"; done
  exit 0
fi

deploy platform 3>&1
processes=() last=()
for stack in "${stacks[@]:1}"; do
  case " $(manifest last) " in
    *" $stack "*) last+=("$stack") && continue ;; # it needs more than the platform
  esac
  deploy "$stack" 3>&1 2>&1 | while IFS= read -r line; do printf '%s: %s\n' "$deployment-$stack" "$line"; done &
  processes+=($!)
done
failed=0
for process in "${processes[@]}"; do wait "$process" || failed=1; done
[ $failed = 0 ] || exit 1
for stack in ${last[@]+"${last[@]}"}; do deploy "$stack" 3>&1; done
[ "$mode" = dry-run ] || aws cloudformation describe-stacks --stack-name "$deployment-platform" \
  --output text \
  --query "Stacks[0].Outputs[?OutputKey=='EKSClusterName' || OutputKey=='GrantAdminCommand'].[OutputKey, OutputValue]"
